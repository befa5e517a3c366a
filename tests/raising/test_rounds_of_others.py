"""Rounds of a loop with barriers in which threads read what others stored in the round before."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

SOURCE = """
__global__ void f(const float *x, float *y, int m) {
  __shared__ float s[8];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  float v = 0.0f;
  for (int j = 0; j < m; j++) {
    READ
    __syncthreads();
    s[t] = STORED;
    __syncthreads();
  }
  y[t] = v;
}"""


@pytest.mark.parametrize(
    ("read", "stored"),
    [
        ("v = s[7 - t];", "0.5f * v"),
        ("v = s[7 - t];", "v + j"),
        ("v += s[(t + 1) % 8] * (j + 1);", "x[t] * j"),
        ("if (s[(t + 7) % 8] > 0.0f) v += 1.0f;", "x[(t + j) % 8]"),
    ],
)
def test_what_others_stored_is_seen(read, stored):
    """The thread's own cell is never read: only those of others tie the rounds."""
    done = pipeline.translate(SOURCE.replace("READ", read).replace("STORED", stored), "f.cu")
    x = np.array([1, -2, 3, -0.5, 2, 0.25, -1, 4], np.float32)
    t, s, v = np.arange(8), x.copy(), np.zeros(8, np.float32)
    for j in range(3):
        if "7 - t" in read:
            v = s[7 - t]
        elif "+ 1) % 8" in read:
            v = v + s[(t + 1) % 8] * (j + 1)
        else:
            v = v + (s[(t + 7) % 8] > 0)
        s = {"0.5f * v": 0.5 * v, "v + j": v + j, "x[t] * j": x * j}.get(stored, x[(t + j) % 8])
    np.testing.assert_allclose(load_module(done.text).f(x, np.zeros(8, np.float32), 3), v, rtol=1e-6)


def test_what_each_round_fills_before_it_is_read_ties_none():
    source = SOURCE.replace("READ", "s[t] = x[t] * j; __syncthreads(); v += s[7 - t];").replace(
        "    s[t] = STORED;\n", ""
    )
    done = pipeline.translate(source, "f.cu")
    assert done.text and "loop" not in done.text and "scan" not in done.text
