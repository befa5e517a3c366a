"""Axes along which only the block's index is looked at, with no guard: as many blocks as a row has places."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

SOURCE = """__global__ void f(const float *x, const float *w, float *y, int C, int T, int K) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y, b = blockIdx.z;
  if (t >= T) return;
  float s = 0.0f;
  for (int k = 0; k < K; k++)
    if (t - k >= 0) s += w[c * K + k] * x[(b * C + c) * T + t - k];
  y[(b * C + c) * T + t] = s;
}
"""


def test_rows():
    done = pipeline.translate(SOURCE, "case.cu")
    assert "resize" not in done.text and "conv_general" not in done.text, done.text
    agrees(done, pipeline.Request(thorough=False), done.text)
    f = load_module(done.text).f
    x, w = np.arange(30, dtype="f"), np.arange(6, dtype="f")
    given = f(x, w, 0 * x, 3, 5, 2, grid=(1, 3, 2), block=(8,))
    np.testing.assert_array_equal(given, f(x, w, 0 * x, 3, 5, 2))
    with pytest.raises(ValueError, match="must have C blocks along y"):
        f(x, w, 0 * x, 3, 5, 2, grid=(1, 2, 2), block=(8,))
