"""Stores through subscripts that wrap around by an offset that the cell's other subscripts choose."""

import pytest

from kraise.diagnostics import Refused
from kraise.frontends import python
from kraise.options import Options
from kraise.raising import raise_function

STORE = """
from numba import cuda
@cuda.jit
def f(dx, y, n, m):
    i = cuda.grid(1)
    if i < {limit}:
        for q in range(y.shape[0]):
            y[{cell}] = i
"""


def raised(cell, limit="n"):
    module, found = python.read(STORE.format(cell=cell, limit=limit), "k.py")
    assert not found, [d.reason for d in found]
    return raise_function(module, module.function("f"), Options())


@pytest.mark.parametrize("cell", ["q, (i + dx[q]) % n", "q, (dx[q] - i) % n", "q, (i + dx[q] * q + n) % n"])
def test_one_cell_for_each_thread(cell):
    raised(cell)


@pytest.mark.parametrize(
    ("cell", "limit"),
    [
        ("q, (i + dx[i]) % n", "n"),  # each thread an offset of its own
        ("q, (2 * i + dx[q]) % n", "n"),
        ("q, (i + dx[q]) % n", "m"),  # more threads than cells
        ("q, (i + dx[q]) % m", "n"),
        ("q // 2, (i + dx[q]) % n", "n"),  # two rounds in one row
        ("0, (i + dx[q]) % n", "n"),
    ],
)
def test_cells_that_two_may_have(cell, limit):
    with pytest.raises(Refused) as refused:
        raised(cell, limit)
    assert {d.code for d in refused.value.diagnostics} <= {"KR201", "KR202", "KR203"}
