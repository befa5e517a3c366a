"""Bytes and shorts as places: the first place behind an array of 256 is no byte (JAX makes 0 of it)."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

PYTHON = """
from numba import cuda


@cuda.jit
def counted(x, keep, bins):
    i = cuda.grid(1)
    if i < x.shape[0] and keep[i] > 0:
        cuda.atomic.add(bins, x[i], 1)


def last_kept(x, keep, bins):
    for i in range(x.shape[0]):
        if keep[i] > 0:
            bins[x[i]] = i


def looked_up(x, keep, table, y):
    for i in range(x.shape[0]):
        if keep[i] > 0:
            y[i] = table[x[i]]
"""
CUDA = """
__global__ void shorts(const short *x, const int *keep, int *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && keep[i] > 0) atomicAdd(&bins[x[i]], 1);
}
"""
KEEP = np.array([1, 0, 1, 0, 0, 1], np.int32)


def raised(source, name):
    done = pipeline.translate(source, name)
    assert not [d for d in done.diagnostics if d.severity == "error"]
    return load_module(done.text)


@pytest.mark.parametrize(("dtype", "size"), [(np.uint8, 256), (np.int16, 40000), (np.uint16, 65536)])
def test_what_a_mask_leaves_out_goes_nowhere(dtype, size):
    x = np.array([7, 1, 9, 2, 3, 7], dtype)
    module = raised(PYTHON, "bytes.py")
    counts, places = np.zeros(size, np.int32), np.full(size, -1, np.int32)
    counts[[7, 9]], places[[7, 9]] = (2, 1), (5, 2)
    np.testing.assert_array_equal(module.counted(x, KEEP, np.zeros(size, np.int32)), counts)
    np.testing.assert_array_equal(module.last_kept(x, KEEP, np.full(size, -1, np.int32)), places)


@pytest.mark.parametrize(("dtype", "size"), [(np.uint8, 300), (np.int8, 200), (np.int16, 40000)])
def test_the_last_place_of_a_long_table_is_no_number_of_a_narrow_type(dtype, size):
    x, table = np.array([7, 1, 100, 2, 3, 8], dtype), np.arange(float(size), dtype=np.float32)
    y = raised(PYTHON, "bytes.py").looked_up(x, KEEP, table, np.full(6, -1, np.float32))
    np.testing.assert_array_equal(y, [7, -1, 100, -1, -1, 8])


def test_shorts():
    bins = np.zeros(40000, np.int32)
    bins[[7, 9]] = 2, 1
    x = np.array([7, 1, 9, 2, 3, 7], np.int16)
    np.testing.assert_array_equal(raised(CUDA, "bytes.cu").shorts(x, KEEP, np.zeros(40000, np.int32), 6), bins)


ROWS = """
__global__ void neighbours(const TYPE *ptr, const float *x, float *y, int n) {
    int i = threadIdx.x;
    if (i < n) {
        float s = 0.0f;
        for (int j = ptr[i]; j < ptr[i + 1]; j++)
            if (j > 0) s += x[j] * x[j - 1];
        y[i] = s;
    }
}
"""


@pytest.mark.parametrize(("kind", "dtype"), [("unsigned char", np.uint8), ("unsigned", np.uint32), ("int", np.int32)])
def test_rows_that_begin_before_the_first_entry_that_counts(kind, dtype):
    """One less than the place at which they begin is no place of an unsigned type."""
    ptr, x = np.array([0, 0, 3, 6], dtype), np.arange(1, 7, dtype=np.float32)
    y = raised(ROWS.replace("TYPE", kind), "rows.cu").neighbours(ptr, x, np.zeros(3, np.float32), 3)
    np.testing.assert_array_equal(y, [0, 8, 62])


UNSIGNED = """
__global__ void kept(const unsigned char *x, const int *keep, unsigned *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && keep[i] > 0) atomicAdd(&bins[x[i]], 1u);
}
__global__ void portions(const unsigned char *x, unsigned *bins, int n) {
    __shared__ unsigned own[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) own[b] = 0;
    __syncthreads();
    int each = (n + gridDim.x - 1) / gridDim.x, from = each * blockIdx.x, to = min(from + each, n);
    for (int i = from + threadIdx.x; i < to; i += blockDim.x) atomicAdd(&own[x[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], own[b]);
}
"""


def test_bytes_are_counted_in_unsigned_cells():
    """A mask in the place leaves the number what it is (``(1).astype``); a sum over no index is its only term."""
    module = raised(UNSIGNED, "bytes.cu")
    x = np.array([7, 1, 9, 2, 3, 7], np.uint8)
    for keep, got in (
        (KEEP > 0, module.kept(x, KEEP, np.zeros(256, np.uint32), 6)),
        (x > 0, module.portions(x, np.zeros(256, np.uint32), 6)),  # whatever the launch is
    ):
        assert got.dtype == np.uint32
        np.testing.assert_array_equal(got, np.bincount(x[keep], minlength=256))
