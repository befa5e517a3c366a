"""``dim3`` variables that are given other numbers later: in a loop the launch before that has them from the second
round on."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

KERNEL = """__global__ void b(float *y, const float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] += x[blockIdx.x] * gridDim.x;
}
"""


def hosted(body):
    return pipeline.translate(f"{KERNEL}void h(float *y, float *x, int n) {{ {body} }}", "f.cu")


def launched(y, x, grid, block):
    y[: grid * block] += np.repeat(x[:grid], block) * grid


LOOPS = [
    "dim3 grid(4); for (int r = 0; r < n; r++) { b<<<grid, 2>>>(y, x); grid.x = 2; }",
    "dim3 grid(4); for (int r = 0; r < n; r++) { b<<<grid, 2>>>(y, x); grid = dim3(2); }",
    "dim3 grid(4); for (int r = 0; r < n; r++) { b<<<grid, 2>>>(y, x); if (r == 0) grid.x /= 2; }",
    "dim3 grid(4), few(2); for (int r = 0; r < n; r++) { b<<<grid, 2>>>(y, x); grid = few; }",
]


@pytest.mark.parametrize("body", LOOPS)
def test_a_launch_before_the_change(body):
    done = hosted(body)
    x, y = np.arange(1, 5, dtype=np.float32), np.zeros(8, np.float32)
    found = load_module(done.text).h(y, x, 3)
    launched(y, x, 4, 2)
    launched(y, x, 2, 2)
    launched(y, x, 2, 2)
    np.testing.assert_array_equal(found, y)


@pytest.mark.parametrize(("n", "grid", "block"), [(2, 4, 2), (5, 2, 4)])
def test_under_a_condition(n, grid, block):
    done = hosted("dim3 grid(4), block(2); if (n > 3) { grid = dim3(2); block.x = 4; } b<<<grid, block>>>(y, x);")
    x, y = np.arange(1, 5, dtype=np.float32), np.zeros(8, np.float32)
    found = load_module(done.text).h(y, x, n)
    launched(y, x, grid, block)
    np.testing.assert_array_equal(found, y)


def test_numbers_that_change_places():
    done = hosted("dim3 d(2, 3); d = dim3(d.y, d.x); b<<<d.x, d.y>>>(y, x);")
    x, y = np.arange(1, 5, dtype=np.float32), np.zeros(8, np.float32)
    found = load_module(done.text).h(y, x, 0)
    launched(y, x, 3, 2)
    np.testing.assert_array_equal(found, y)
