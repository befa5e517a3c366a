"""Cells that threads fill in rows of several, some of them once more: which thread fills a cell is told by its digits,
not by the first thread for all of them."""

import numpy as np
import pytest

from kraise import pipeline
from tests.checks import agrees

SOURCE = """__global__ void f(const float *x, float *y, int n) {
  int t = threadIdx.x, at = 16 * blockIdx.x + 4 * t;
  __shared__ float s[64];
  for (int j = 0; j < 4; ++j) s[4 * t + j] = x[at + j];
  for (int j = 0; j < 4; ++j) if (%s) s[4 * t + j] = x[j];
  __syncthreads();
  y[blockIdx.x * 16 + t] = s[t] + s[(t + 1) & 63];
}"""


@pytest.mark.parametrize("guard", ["j >= n - at", "x[j] > n", "t % 2 == 0"])
@pytest.mark.long_cases("t % 2 == 0")
def test_a_part_of_each_row_is_filled_again(guard):
    done = pipeline.translate(SOURCE % guard, "f.cu")
    if done.text is not None:
        x = np.arange(16 * 3 + 64, dtype=np.float32)
        agrees(done, pipeline.Request(values={"n": 7, "x": x}, shapes={"y": (48,)}, grid=(3,), block=(16,)))
    assert done.text is not None or guard != "j >= n - at"


CELL = """__global__ void f(const float *x, float *y, int width, int d) {
  __shared__ float tile[3 * 8];
  int first = blockIdx.x * 8 + threadIdx.x;
  tile[threadIdx.x] = x[first];
  for (int i = 1; i < 3; i++) tile[threadIdx.x + i * 8] = width - first > i * 8 ? x[first + i * 8] : 0.0f;
  __syncthreads();
  unsigned at = threadIdx.x + d;
  y[first] = tile[at];
}"""
HALO = """__global__ void f(const float *x, float *y, int width, int d) {
  __shared__ float tile[6 * 8];
  int first = (blockIdx.x * 4 - 1) * 8 + threadIdx.x;
  for (int i = 1; i < 5; i++) tile[threadIdx.x + i * 8] = x[first + i * 8];
  tile[threadIdx.x] = first >= 0 ? x[first] : 0.0f;
  for (int i = 5; i < 6; i++) tile[threadIdx.x + i * 8] = width - first > i * 8 ? x[first + i * 8] : 0.0f;
  __syncthreads();
  for (int i = 1; i < 5; i++) {
    float sum = 0.0f;
    for (int j = -3; j <= 3; j++) { unsigned at = threadIdx.x + i * 8 + j; int a = at; sum += tile[a] * (j + 4); }
    y[first + i * 8] = sum;
  }
}"""


@pytest.mark.parametrize("source", [CELL, HALO], ids=["cell", "halo"])
@pytest.mark.long_cases("halo")
def test_a_cell_whose_digits_are_not_told_may_be_filled_by_other_rounds(source):
    done = pipeline.translate(source, "f.cu")
    assert done.text is not None, [d.reason for d in done.diagnostics]
    for d in (11, 0):
        values = {"width": 64, "d": d}
        agrees(done, pipeline.Request(shapes={"x": (64,), "y": (64,)}, values=values, grid=(2,), block=(8,)))
