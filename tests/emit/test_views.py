"""Flat arrays under views of rows: arrays that end within their last row, rows that overlap, sizes that cannot be."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.hostile.judge import judge

SCALE = """
__global__ void scale(int n, int m, int ld, float *a, const float *b) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && j < m) a[i * ld + j] = 2.0f * b[i * ld + j] + i;
}"""
FRAMES = """
__global__ void frames(int n, int hop, int width, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { float s = 0; for (int j = 0; j < width; j++) s += (j + 1) * x[i * hop + j]; y[i] = s; }
}"""


def _function(source: str, name: str):
    done = pipeline.translate(source, "k.cu")
    assert done.text is not None, done.diagnostics
    return getattr(load_module(done.text), name), done.text


@pytest.mark.parametrize("length", [11, 12, 13, 15, 20])
def test_an_array_may_end_within_its_last_row(length):
    scale, _ = _function(SCALE, "scale")
    n, m, ld = 3, 1 + (length == 12) + 2 * (length > 12), 5
    a, b = np.arange(length, dtype=np.float32), np.linspace(1, 2, length, dtype=np.float32)
    expected = a.copy()
    for i in range(n):
        expected[i * ld : i * ld + m] = 2 * b[i * ld : i * ld + m] + i
    np.testing.assert_allclose(scale(n, m, ld, a, b), expected)
    slope = jax.grad(lambda b: scale(n, m, ld, a, b).sum())(b)
    np.testing.assert_allclose(slope, [2.0 if k % ld < m and k // ld < n else 0.0 for k in range(length)])


def test_whole_rows_are_reshaped():
    _, text = _function(SCALE.replace("i * ld", "i * m"), "scale")
    assert "resize" not in text and "b[: n * m].reshape(n, m)" in text


def test_a_triangle_that_misses_the_last_cell_is_resized():
    source = """
__global__ void f(int n, const float *a, float *y) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {{ float s = 0; for (int j = 0; j < {}; j++) s += a[i * n + j]; y[i] = s; }}
}}"""
    assert "resize" not in _function(source.format("i + 1"), "f")[1]
    f, _ = _function(source.format("n - i"), "f")
    a = np.arange(7, dtype=np.float32)  # the last row has one element
    np.testing.assert_allclose(f(3, a, np.zeros(3, np.float32)), [0 + 1 + 2, 3 + 4, 6])


@pytest.mark.parametrize("hop", [1, 2, 3, 4, 7])
def test_loaded_rows_may_overlap(hop):
    frames, _ = _function(FRAMES, "frames")
    n, width = 4, 3
    x = np.linspace(-1, 1, (n - 1) * hop + width, dtype=np.float32) ** 2
    expected = [sum((j + 1) * x[i * hop + j] for j in range(width)) for i in range(n)]
    np.testing.assert_allclose(frames(n, hop, width, x, np.zeros(n, np.float32)), expected, rtol=1e-6)
    slope = jax.grad(lambda x: frames(n, hop, width, x, np.zeros(n, np.float32)).sum())(x)
    weights = np.zeros_like(x)
    for i in range(n):
        weights[i * hop : i * hop + width] += np.arange(1, width + 1)
    np.testing.assert_allclose(slope, weights, rtol=1e-6)


def test_stored_rows_that_overlap_at_every_size_are_refused():
    source = """
__global__ void bad(int n, float *a, const float *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = threadIdx.y;
  if (i < n && j < 17) a[i * 16 + j] = b[i * 17 + j];
}"""
    done = pipeline.translate(source, "k.cu")
    assert done.text is None and [d.code for d in done.diagnostics] == ["KR201"]


RING = """__global__ void k(const float *x, float *y, int m, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, w = 0;
  if (i >= n) return;
  float late[4] = {0, 0, 0, 0};
  for (int t = 0; t < m; t++) {
    float v = x[t * n + i] + 0.5f * late[w] - 0.25f * late[(w + 1) % 4];
    late[w] = v;
    w = (w + 1) & 3;
    y[t * n + i] = v;
  }
}"""


@pytest.mark.parametrize("m", [1, 3, 4, 13])
def test_a_row_that_is_begun_may_end_before_its_last_cell(m):
    """Rows of four rounds each, the last of them begun: the array ends with the last round."""
    assert judge(RING, "cu", f"x=f[{5 * m}] y=f[{5 * m}] m={m} n=5", [((1,), (8,))]) == "right"


SHORT = """
def k(x, y, z, n, m):
    for i in range(n):
        for j in range(m):
            y[i, j] = x[i * m + j + m] if 0 <= i * m + j + m < len(x) else -1.0
            if j * n + i < x.size and x[j * n + i] > 0:
                z[i, j] -= x[j * n + i]
"""


@pytest.mark.parametrize("size", [5, 6, 8, 12])
def test_rows_of_an_array_that_a_guard_by_its_size_lets_end_anywhere(size):
    """The guard stood within the value, and the rows were taken to be whole: an error of shapes."""
    assert judge(SHORT, "py", f"x=d[{size}] y=d[2,3] z=d[2,3] n=2 m=3", [((1,), (1,))]) == "right"


COUNTED = """
__global__ void k(float *y, const float *x, int m, const int *count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count[0]) { float s = 0; for (int c = 0; c < m; c++) s = %s + x[i * m + c]; y[i] = s; }
}"""


@pytest.mark.parametrize("more", ["s", "s * s"])
def test_rows_end_where_a_count_that_is_read_ends_the_threads(more):
    """As many rows as there are elements of y, or threads, were asked of x."""
    run = load_module(pipeline.translate(COUNTED % more, "k.cu").text).k
    x = np.arange(6, dtype=np.float32)
    expected = [1, 5, 9, 0, 0] if more == "s" else [1, 7, 21, 0, 0]
    for launch in ({}, {"grid": 2, "block": 4}):
        got = run(np.zeros(5, np.float32), x, 2, np.array([3], np.int32), **launch)
        np.testing.assert_array_equal(got, np.array(expected, np.float32))
