"""Rows that an entry of a table names or moves, and sums over what is made with the table's axis."""

from __future__ import annotations

import pytest

from kraise import pipeline
from tests.checks import agrees

WALLS = """
#define Q 3
__constant__ int step[Q] = {0, 1, -1};
__constant__ int back[Q] = {BACK};
__constant__ float weight[Q] = {0.5f, 0.25f, 0.25f};
__global__ void advance(const float *f, float *g, int n, float rate) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= n) return;
  float in[Q], total = 0.f, flow = 0.f;
  for (int q = 0; q < Q; ++q) {
    int from = x - step[q];
    in[q] = from < 0 || from >= n ? f[back[q] * n + x] : f[q * n + from];
    total += in[q];
    flow += step[q] * in[q];
  }
  for (int q = 0; q < Q; ++q) g[q * n + x] = in[q] + rate * (weight[q] * (total + step[q] * flow / total) - in[q]);
}
"""
LINE = """
import numpy as np
from numba import cuda

STEP = np.array([0, 1, -1])
BACK = np.array([0, 2, 1])

@cuda.jit
def advance(f, g, rate):
    x = cuda.grid(1)
    n = f.shape[1]
    if x < n:
        total = 0.0
        for q in range(3):
            at = x - STEP[q]
            total += f[BACK[q], x] if at < 0 or at >= n else f[q, at]
        for q in range(3):
            at = x - STEP[q]
            came = f[BACK[q], x] if at < 0 or at >= n else f[q, at]
            g[q, x] = came + rate * (total / 3.0 - came)
"""


def _text(source, file, **values):
    done = pipeline.translate(source, file)
    assert done.text is not None, [d.reason for d in done.diagnostics]
    agrees(done, pipeline.Request(values=values))
    return done.text


def test_walls_hand_back_what_went_there():
    text = _text(WALLS.replace("BACK", "0, 2, 1"), "k.cu", n=7)
    assert "f2[back_2]" in text and "jnp.roll(row, step[q])" in text and "clip" not in text, text
    assert text.count("jnp.roll") == 1, text  # what came in is made once


def test_an_entry_that_is_no_row():
    """The array is known to have three rows: that it has a fourth, only the walls' lanes say."""
    text = _text(WALLS.replace("BACK", "0, 3, 1"), "k.cu", n=7)
    assert "f2[back_2]" not in text


def test_the_same_from_python():
    text = _text(LINE, "k.py")
    assert "jnp.roll(row, STEP[q])" in text, text


@pytest.mark.parametrize("guard", ["from < 0 || from >= n", "from < 0 || from >= n || x == 3"])
@pytest.mark.long_cases("x == 3")
def test_what_comes_round_is_used_by_nobody(guard):
    _text(WALLS.replace("BACK", "0, 2, 1").replace("from < 0 || from >= n", guard), "k.cu", n=5)
