"""Kernels whose launches have one block, scans between two buffers that also hand out totals; and wrong twins."""

import pytest

from kraise.diagnostics import Refused
from kraise.frontends import python
from kraise.options import Options
from kraise.raising import raise_function
from tests.raising.agree import raised, refusal

DOT = """
from numba import cuda, float32

TPB = 32


@cuda.jit
def dot(out, a, b, n):
    s = cuda.shared.array(TPB, float32)
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    t = cuda.threadIdx.x
    s[t] = a[i] * b[i] if i < n else 0.0
    cuda.syncthreads()
    k = TPB // 2
    while k > 0:
        if t < k:
            s[t] += s[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        out[0] = s[0]


def run(out, a, b):
    o = cuda.to_device(out)
    dot[GRID, TPB](o, cuda.to_device(a), cuda.to_device(b), a.shape[0])
    o.copy_to_host(out)
"""


def kernel(grid):
    module, found = python.read(DOT.replace("GRID", grid), "case.py")
    assert not [d for d in found if d.severity == "error"], found
    return raise_function(module, module.function("dot"), Options())


def test_the_launches_of_the_file_have_one_block():
    assert "the launch has one block along x" in kernel("1").assumptions


@pytest.mark.parametrize("grid", ["2", "a.shape[0]"])
def test_several_blocks_that_store_to_one_cell_are_a_race(grid):
    with pytest.raises(Refused) as refused:
        kernel(grid)
    assert refused.value.diagnostics[0].code == "KR201"


SCAN = """
def scan(x, y, w):
    s = cuda.shared.array((2, 16), "float32")
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    to = 0
    s[to, t] = x[i]
    cuda.syncthreads()
    d = 1
    while d < 16:
        to = 1 - to
        if t >= d:
            s[to, t] = s[1 - to, t] + s[1 - to, t - d]
        else:
            s[to, t] = s[1 - to, t]
        cuda.syncthreads()
        d *= 2
    y[i] = s[to, t]
    if t == 15:
        w[cuda.blockIdx.x] = s[to, t]
"""


def test_a_scan_between_two_buffers_leaves_totals():
    assert raised(SCAN).tile == ((0, 16),)


def test_without_its_barrier_it_is_a_race():
    assert refusal(SCAN.replace("        cuda.syncthreads()\n        d *= 2", "        d *= 2")) in ("KR201", "KR207")
