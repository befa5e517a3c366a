"""What the tests of the CUDA C front end share: read a source, print what came out."""

from __future__ import annotations

import textwrap

from kraise.frontends.cuda_c import read
from kraise.ir.print_kernel import function_text


def lower(source: str, name: str = "", file: str = "t.cu", **options) -> str:
    """The printed Kernel IR of one function (the last, unless named); fails on any error or warning."""
    module, found = read(textwrap.dedent(source), file, **options)
    problems = [d for d in found if d.severity != "note"]
    assert not problems, problems
    return function_text(module.function(name) if name else module.functions[-1])


def body(
    statements: str, parameters: str = "float *a, const float *b, int *k, unsigned *u, int n, float c", **options
) -> str:
    """The printed body of a kernel with these statements."""
    text = f"{options.pop('before', '')}\n__global__ void kernel_({parameters}) {{\n{textwrap.dedent(statements)}\n}}\n"
    return textwrap.dedent(lower(text, "kernel_", **options).split("\n", 1)[1]).strip()


def refusals(source: str, file: str = "t.cu", **options) -> list[tuple[str, int, str]]:
    """(code, line, kernel) of every error."""
    _, found = read(textwrap.dedent(source), file, **options)
    return [(d.code, d.span.line if d.span else 0, d.kernel) for d in found if d.severity == "error"]
