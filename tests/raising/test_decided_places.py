"""Cells that a choice names (``v = i < n ? x[i] : -1``), and conditions on what is chosen: what a number of one arm
says of the condition becomes a part of the domain."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

COUNTS = """__global__ void f(const int *x, int *h, int n, int bins) {
  int size = blockDim.x * 4, all = gridDim.x * size;
  for (int at = blockIdx.x * size + threadIdx.x; at < n; at += all)
    for (int k = 0; k < 4; k++) {
      int j = at + k * blockDim.x;
      int v = j < n ? x[j] : %s;
      if (v %s && v < bins) atomicAdd(&h[v], 1);
    }
}"""
NUMBA = """from numba import cuda
@cuda.jit
def f(x, y):
    i = cuda.grid(1)
    v = x[i] if i < x.shape[0] - 1 else -5
    if v > -3:
        y[i] = 2.0 * v
"""
SUMS = """__global__ void f(const float *x, float *y, %s n) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int i = t; i < n; i += blockDim.x * gridDim.x * 4)
    for (int k = 0; k < 4; k++)
      s += (i + k * blockDim.x * gridDim.x < n) ? x[i + k * blockDim.x * gridDim.x] : 0.f;
  atomicAdd(y, s);
}"""


@pytest.mark.parametrize(("other", "test"), [("-1", ">= 0"), ("-7", "> -1"), ("-1", "!= -1")])
def test_a_histogram_of_four_elements_a_thread(other, test):
    done = pipeline.translate(COUNTS % (other, test), "f.cu")
    assert "grid" not in done.text and "h.at[x[:n]].add(" in done.text
    x = np.array([3, 0, 4, 1, 3, 9, 2, 3, 0, 1, 2], np.int32)
    found = load_module(done.text).f(x, np.zeros(5, np.int32), 11, 5)
    assert list(found) == [2, 2, 2, 3, 1]
    values = {"n": 11, "bins": 5, "x": x}
    agrees(done, pipeline.Request(shapes={"h": (5,)}, values=values, grid=(2,), block=(2,), gradients=False))


@pytest.mark.parametrize(("other", "test"), [("0", ">= 0"), ("-1", ">= -1")])
def test_the_other_arm_counts_too(other, test):
    """The twin: who has no element counts one of cell 0, or writes before the first cell."""
    done = pipeline.translate(COUNTS % (other, test), "f.cu")
    assert done.text is None or "grid" in done.text


def test_a_choice_that_numba_makes():
    done = pipeline.translate(NUMBA, "f.py")
    assert done.text is not None
    x = np.array([1.0, -4.0, 3.0, 8.0])
    agrees(done, pipeline.Request(values={"x": x}, shapes={"y": (4,)}, grid=(1,), block=(4,)))


@pytest.mark.parametrize("size", ["unsigned", "int"])
def test_an_unsigned_sum_of_indices_bounds_them(size):
    done = pipeline.translate(SUMS % size, "f.cu")
    assert "y.at[0].add(jnp.sum(x[:n]))" in done.text
    agrees(done, pipeline.Request(values={"n": 13}, shapes={"x": (13,), "y": (1,)}, grid=(2,), block=(2,)))


def test_an_unsigned_difference_does_not():
    """The twin: below zero it is a large number."""
    done = pipeline.translate((SUMS % "unsigned").replace("i + k", "i - k"), "f.cu")
    assert done.text is None or "jnp.sum(x[:n])" not in done.text
