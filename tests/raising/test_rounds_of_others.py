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


def test_cells_beside_what_a_ladder_left():
    """Its steps may store anywhere: that says of no cell that it is there."""
    source = """
__global__ void f(const float *x, float *y) {
  __shared__ float s[16];
  int t = threadIdx.x, i = blockIdx.x * 16 + t;
  s[t] = x[i];
  __syncthreads();
  for (int k = 1; k < 16; k *= 2) {
    float v = t >= k ? s[t - k] : 0.0f;
    __syncthreads();
    if (t >= k) s[t] += v;
    __syncthreads();
  }
  y[i] = (t != 0 ? s[t - 1] : 0.0f) + (t != 15 ? 100.0f * s[t + 1] : 0.0f);
}"""
    x = np.arange(32, dtype=np.float32) % 7
    sums = np.pad(x.reshape(2, 16).cumsum(axis=1), ((0, 0), (1, 1)))
    sums[:, -1] = 0
    got = load_module(pipeline.translate(source, "f.cu").text).f(x, np.zeros(32, np.float32))
    np.testing.assert_allclose(got, (sums[:, :-2] + 100 * sums[:, 2:]).ravel())


def test_a_turn_that_is_never_whole():
    """Three rounds of a loop whose places repeat after four: no loop over whole turns is left."""
    source = """
__global__ void f(const float *x, float *y) {
  __shared__ float a[2][4], b[2][4];
  int t = threadIdx.x, u = threadIdx.y, i = blockIdx.x * 8 + u * 4 + t;
  a[u][t] = x[i];
  b[u][t] = 0.0f;
  __syncthreads();
  for (int j = 0; j < 3; j++) {
    float r = fmaxf(x[i] - b[1 - u][t], a[(u + j) % 2][j % 4]);
    __syncthreads();
    b[u][t] = r;
    __syncthreads();
  }
  y[i] = b[u][t];
}"""
    x = np.array([1, -2, 3, -0.5, 2, 0.25, -1, 4, 3, 2, -5, 1, 0, 7, -3, 2], np.float32)
    a = x.reshape(2, 2, 4)
    b = np.zeros_like(a)
    for j in range(3):
        b = np.maximum(a - b[:, ::-1], np.roll(a, -j, axis=1)[:, :, j % 4, None])
    got = load_module(pipeline.translate(source, "f.cu").text).f(x, np.zeros(16, np.float32))
    np.testing.assert_allclose(got, b.ravel())
