"""Stores through subscripts that wrap around by an offset that the cell's other subscripts choose."""

import pytest

from kraise import pipeline
from kraise.diagnostics import Refused
from kraise.frontends import python
from kraise.options import Options
from kraise.raising import raise_function
from tests.checks import agrees
from tests.hostile.judge import judge

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


TABLE = """
__constant__ int dx[5] = {{0, 1, -{left}, 0, 0}};
__constant__ int dy[5] = {{0, 0, 0, 1, -1}};
__global__ void push(const float *f, float *g, int nx, int ny) {{
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  for (int q = 0; q < 5; q++) {{
    int xd = (x + dx[q] + nx) % nx, yd = (y + dy[q] + ny) % ny;
    g[{cell}] = f[(q * ny + y) * nx + x];
  }}
}}
"""


@pytest.mark.parametrize("cell", ["q * nx * ny + yd * nx + xd", "(yd * nx + xd) * 5 + q", "(q * ny + yd) * nx + xd"])
def test_the_entries_of_a_table_stay_within_the_row(cell):
    done = pipeline.translate(TABLE.format(cell=cell, left=1), "k.cu")
    assert not done.diagnostics, done.diagnostics
    request = pipeline.Request(shapes={"f": (60,), "g": (60,)}, values={"nx": 4, "ny": 3})
    agrees(done, request)


@pytest.mark.parametrize(
    ("cell", "left"),
    [
        ("q * nx * ny + yd * nx + xd", 3),  # of two columns, C's remainder is negative
        ("q * nx * ny + yd * ny + xd", 1),  # rows of another length
        ("yd * nx + xd + q", 1),
        ("dx[q] * nx * ny + yd * nx + xd", 1),
    ],
)
def test_entries_that_leave_the_row(cell, left):
    done = pipeline.translate(TABLE.format(cell=cell, left=left), "k.cu")
    assert {d.code for d in done.diagnostics} & {"KR201", "KR202"}, done.text


RING = """__global__ void f(const float *x, float *y, int n, int m, int s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < LIMIT) y[CELL] = 2 * x[i];
}"""


@pytest.mark.parametrize(
    ("cell", "limit", "roll"),
    [
        ("(i + s) % n", "n", True),
        ("(i + 5) % n", "n", True),
        ("(s + n - 1 - i) % n", "n", True),
        ("(i + s) % n", "m", False),
        ("(2 * i + s) % n", "n", False),
    ],
)
def test_a_ring_that_is_moved_on(cell, limit, roll):
    done = pipeline.translate(RING.replace("CELL", cell).replace("LIMIT", limit), "k.cu")
    assert (done.text is not None) == roll
    if not roll:
        assert {d.code for d in done.diagnostics} <= {"KR201", "KR202"}
        return
    for n, s in ((7, 3), (4, 9), (1, 0)):
        request = pipeline.Request(shapes={"x": (n,), "y": (n,)}, values={"n": n, "m": n, "s": s})
        agrees(done, request)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("(i + 3) % n", "right"), ("(n - i) % n", "right"), ("(i + 3) % m", "refused"), ("(i / 2 + 3) % n", "refused")],
)
def test_a_ring_beside_the_index_of_a_thread(cell, expected):
    """Block and thread are two indices then: their number goes round, whatever they are."""
    source = f"int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[{cell}] = x[i] + threadIdx.x;"
    source = f"__global__ void k(float *y, const float *x, int n, int m) {{ {source} }}"
    found = judge(source, "cu", "y=f[13] x=f[13] n=13 m=12", [((3,), (5,)), ((1,), (16,))])
    assert found.startswith(expected)
