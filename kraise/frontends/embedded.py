"""CUDA C in the strings of a Python file (``cupy.RawKernel`` and the like): read by the other front end."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path, PurePath

from kraise.diagnostics import Diagnostic
from kraise.ir import kernel

_MARK = re.compile(r"\b(RawKernel|RawModule|SourceModule)\s*\(")


def holds(source: str) -> bool:
    """Whether a Python text makes kernels from strings."""
    return bool(_MARK.search(source))


def read(
    source: str, file: str, defines: tuple[str, ...], include_dirs: tuple[str, ...]
) -> tuple[kernel.Module, list[Diagnostic]]:
    """The CUDA C in the strings of a Python file."""
    from kraise.frontends import cuda_c

    folders = (str(Path(file).parent), *include_dirs)
    return cuda_c.read_embedded(source, PurePath(file).name, defines=defines, include_dirs=folders)


def joined(
    module: kernel.Module, findings: Iterable[Diagnostic], other: kernel.Module, more: list[Diagnostic]
) -> tuple[kernel.Module, tuple[Diagnostic, ...]]:
    """A Python module with the CUDA C in its strings: those kernels are raised too."""
    taken = {f.name for f in module.functions}
    for f in other.functions:
        if f.name in taken:
            reason = f"there is a Python function `{f.name}` and one in a string"
            more.append(Diagnostic("KR107", reason, f.span, kernel=f.name))
    whole = replace(
        module,
        language="cuda_c" if not module.functions else module.language,
        functions=(*module.functions, *(f for f in other.functions if f.name not in taken)),
        constants=(*module.constants, *other.constants),
        comments=tuple(sorted((dict(module.comments) | dict(other.comments)).items())),
    )
    return whole, (*findings, *more)


__all__ = ["holds", "joined", "read"]
