"""How long the tool itself takes: starting, a kernel, a long file."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.bench.timing import process, row

KERNEL = '''
@cuda.jit
def step_{n}(u, v, w, out, alpha, beta, n, m):
    """Advances one cell."""
    i, j = cuda.grid(2)
    if i > 0 and i < n - 1 and j > 0 and j < m - 1:
        north = u[i - 1, j]
        south = u[i + 1, j]
        west = u[i, j - 1]
        east = u[i, j + 1]
        lap = north + south + west + east - 4.0 * u[i, j]
        if v[i, j] > 0.0:
            rate = alpha * math.sqrt(v[i, j])
        else:
            rate = beta
        acc = 0.0
        for k in range(m):
            acc += w[i, k] * v[k, j]
        out[i, j] = u[i, j] + rate * lap + acc
'''
HEAD = "import math\n\nfrom numba import cuda\n\n"


def kernels(lines: int) -> str:
    """A file of kernels with at least ``lines`` lines."""
    text = HEAD
    number = 0
    while text.count("\n") < lines:
        text += KERNEL.format(n=number) + "\n"
        number += 1
    return text


def main() -> None:
    """Prints ratios to ``python -c "import click, libcst"`` and seconds for the two sizes of the bars."""
    kraise = str(Path(sys.executable).with_name("kraise"))
    base = process(sys.executable, "-c", "import click, libcst")
    row("import click, libcst", f"{base:.3f} s")
    row("kraise --version", f"{process(kraise, '--version') / base:.2f} x", "at most 2 x")
    with tempfile.TemporaryDirectory() as folder:
        for lines, bar, rounds in ((20, "", 7), (100, "below 1 s", 5), (3000, "below 10 s", 1)):
            source = Path(folder, f"k{lines}.py")
            source.write_text(kernels(lines))
            seconds = process(kraise, "translate", str(source), rounds=rounds)
            row(f"kraise translate, {lines} lines", f"{seconds:.2f} s", bar)
            row("  as a ratio", f"{seconds / base:.2f} x")


if __name__ == "__main__":
    main()
