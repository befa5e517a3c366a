"""What the tests of the Python front end share: read a source, print what came out."""

from __future__ import annotations

import textwrap

from kraise.frontends.python import read
from kraise.ir.print_kernel import function_text

HEADER = "import math\nimport numpy as np\nfrom numba import cuda, njit, prange\n"


def lower(source: str, name: str = "", **options) -> str:
    """The printed Kernel IR of one function (the last, unless named); fails on any diagnostic."""
    module, problems = read(HEADER + textwrap.dedent(source), "t.py", **options)
    assert not problems, problems
    function = module.function(name) if name else module.functions[-1]
    return function_text(function)


def body(source: str, **options) -> str:
    """The printed body of a kernel ``k`` with this source as its body, or of the last function if it defines one."""
    return textwrap.dedent(lower(source, **options).split("\n", 1)[1])


def refusals(source: str, **options) -> list[tuple[str, int, str]]:
    """(code, line in ``source`` counted from 1, kernel) of every diagnostic."""
    text = textwrap.dedent(source)
    _, problems = read(HEADER + text, "t.py", **options)
    return [(p.code, p.span.line - HEADER.count("\n") if p.span else 0, p.kernel) for p in problems]
