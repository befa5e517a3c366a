"""What the source says of the size of its blocks: numbers as strides of their threads, shared cells that are read."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

SUM = """
__global__ void f(const float *x, float *y, int cols) {{
  __shared__ float total;
  float s = 0;
  for (int j = threadIdx.x; j < cols; j += {stride}) s += x[blockIdx.x * cols + j];
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, s);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = total;
}}
"""
NUMBA = """
from numba import cuda
@cuda.jit
def f(x, y):
    for j in range(cuda.threadIdx.x, x.shape[0], 64):
        cuda.atomic.add(y, 0, x[j])
"""


@pytest.mark.parametrize("cols", (3, 64, 65, 200))
def test_each_element_is_taken_once(cols):
    result = pipeline.translate(SUM.format(stride=64), "k.cu")
    assert not result.diagnostics, result.diagnostics
    x = np.arange(3.0 * cols, dtype=np.float32)
    found = load_module(result.text).f(x, np.zeros(3, np.float32), cols)
    np.testing.assert_allclose(found, x.reshape(3, cols).sum(1), rtol=1e-5)


def test_of_numba():
    result = pipeline.translate(NUMBA, "k.py")
    assert not result.diagnostics, result.diagnostics
    found = load_module(result.text).f(np.ones(200, np.float32), np.zeros(1, np.float32))
    assert found[0] == 200


def test_another_block_is_refused():
    module = load_module(pipeline.translate(SUM.format(stride=64), "k.cu").text)
    with pytest.raises(ValueError, match="64 threads"):
        module.f(np.ones(10, np.float32), np.zeros(1, np.float32), 10, block=32)


def test_stores_of_each_round():
    source = (
        "__global__ void f(const float *x, float *y, int n) { "
        "for (int j = threadIdx.x; j < n; j += 64) y[j] = 2 * x[j]; }"
    )
    result = pipeline.translate(source, "k.cu")
    assert "y.at[:n].set(2.0 * x[:n])" in result.text and "where" not in result.text


ROWS = (
    "__global__ void f(const float *x, float *y, int rows, int cols) {{ int row = {}; "
    "if (row < rows) for (int j = threadIdx.x; j < cols; j += 32) y[row * cols + j] = 2 * x[row * cols + j]; }}"
)


@pytest.mark.parametrize("row", ["blockIdx.x", "blockIdx.x * blockDim.y + threadIdx.y", "blockIdx.x * 4 + threadIdx.y"])
def test_rows_by_as_many_threads_as_the_stride(row):
    text = pipeline.translate(ROWS.format(row), "k.cu").text
    assert "32 threads along x" in text and ("4 threads along y" in text) == ("4" in row)
    x = np.arange(2 * 40, dtype=np.float32)
    np.testing.assert_array_equal(load_module(text).f(x, np.zeros_like(x), 2, 40), 2 * x)


@pytest.mark.parametrize("row", ["blockIdx.x * 4 + threadIdx.y / 2", "blockIdx.x / 2"])
def test_rows_that_two_threads_take_are_refused_or_the_same(row):
    source = ROWS.format(row).replace("2 * x[row * cols + j]", "x[blockIdx.x] + threadIdx.y")
    assert pipeline.translate(source, "k.cu").text is None


def test_the_launches_of_the_file_say_more_than_the_stride():
    host = "void h(const float *x, float *y, int n) { f<<<3, 32>>>(x, y, n); }"
    assert "64 threads" not in pipeline.translate(SUM.format(stride=64) + host, "k.cu").text


def test_blocks_fill_the_cells_that_are_read():
    source = """
__global__ void f(const float *x, float *y, int cols) {
  __shared__ float part[64];
  float s = 0;
  for (int j = threadIdx.x; j < cols; j += blockDim.x) s += x[blockIdx.x * cols + j];
  part[threadIdx.x] = s;
  __syncthreads();
  float total = 0;
  for (int k = 0; k < 64; k++) total += part[k];
  if (threadIdx.x == 0) y[blockIdx.x] = total;
}
"""
    module = load_module(pipeline.translate(source, "k.cu").text)
    x = np.arange(600, dtype=np.float32)
    np.testing.assert_allclose(module.f(x, np.zeros(3, np.float32), 200), x.reshape(3, 200).sum(1), rtol=1e-5)
    with pytest.raises(ValueError, match="64 threads"):
        module.f(x, np.zeros(3, np.float32), 200, block=32)
