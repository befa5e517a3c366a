"""CUDA C (and plain C) to Kernel IR.

Text is preprocessed (:mod:`preprocess`), scanned for the items that kernels need (:mod:`scan`), read by a type-aware
lexer (:mod:`lexer`) and the LALR grammar grammar/cuda_c.lark (:mod:`parser`), and lowered function by function
(:mod:`functions`). One bad kernel does not stop the others.
"""

from __future__ import annotations

from kraise.frontends.cuda_c.embedded import find_embedded, read_embedded
from kraise.frontends.cuda_c.original import compiler_input
from kraise.frontends.cuda_c.reader import read

__all__ = ["compiler_input", "find_embedded", "read", "read_embedded"]
