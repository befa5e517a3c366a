"""JAX's own integers (places of extrema, ranges, counts) have 64 bits where 64 bits are on; a store to an array of
fewer narrows them itself: JAX warns, and will refuse, where a scatter does."""

import warnings

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module, x64

KERNELS = """
#define I int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
__global__ void place(const float *x, const TYPE *w, int *y, int n) {
  I int b = 0; for (int j = 1; j < 4; j++) if (x[i * 4 + j] > x[i * 4 + b]) b = j; y[i] = b; }
__global__ void count(const float *x, const TYPE *w, int *y, int n) {
  I int c = 0; for (int j = 0; j < 4; j++) if (x[i * 4 + j] > w[i]) c++; y[i] = c; }
__global__ void first(const float *x, const TYPE *w, int *y, int n) {
  I for (int k = 0; k < 4; k++) if (x[i * 4 + k] > w[i]) { y[i] = k; break; } }
__global__ void own(const float *x, const TYPE *w, int *y, int n) {
  I if (x[i] > w[i]) atomicAdd(&y[i / 2], i); atomicMax(&y[n - 1], i); }
"""


@pytest.mark.parametrize("kind", ["float", "double"])
def test_places_and_counts_are_stored_in_32_bits(kind):
    done = pipeline.translate(KERNELS.replace("TYPE", kind), "k.cu")
    x, w = np.float32([[1, 5, 5, 2], [0, 0, 3, 9], [4, 1, 1, 1]]), np.array([3, 2, 9], kind.replace("float", "f4"))
    y = np.zeros(3, np.int32)
    wanted = {"place": [1, 3, 0], "count": [2, 2, 0], "first": [1, 2, 0], "own": [1, 0, 2]}
    with x64(True), warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        module = load_module(done.text)
        for name, values in wanted.items():
            got = getattr(module, name)(x.ravel(), w, y, 3)
            assert got.dtype == np.int32 and got.tolist() == values, (name, got)


ROWS = """
from numba import cuda


@cuda.jit
def lowest(x, ptr, y, at):
    r = cuda.grid(1)
    if r < y.size:
        k = ptr[r]
        low = x[k]
        place = k
        for k in range(ptr[r] + 1, ptr[r + 1]):
            if x[k] < low:
                low = x[k]
                place = k
        y[r] = low
        at[r] = place
"""


@pytest.mark.parametrize("wide", [False, True])
def test_a_place_that_a_loop_counts_begins_as_wide_as_the_count(wide):
    """Row pointers of 32 bits where 64 are on: the loop's state changed its type (a TypeError)."""
    ptr, x = np.array([0, 3, 4], np.int32), np.array([2.0, 1.0, 3.0, 5.0])
    with x64(wide):
        y, at = load_module(pipeline.translate(ROWS, "k.py").text).lowest(x, ptr, np.zeros(2), np.zeros(2, np.int32))
        assert y.tolist() == [1, 5] and at.tolist() == [1, 3]
