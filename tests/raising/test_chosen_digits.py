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
