"""Ranges that a size is shared out into (adaptive pooling), and ranges that start at a thread within its row."""

import pytest

from kraise import pipeline
from tests.checks import agrees

POOLED = """
__global__ void pooled(const float *x, float *y, int n, int m, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * m) return;
    int r = i / m, o = i %% m;
    int first = o * n / m, last = %s;
    float s = %s;
    for (int k = first; k < last; k++) s = %s;
    y[i] = s;
}"""
LAST = "((o + 1) * n + m - 1) / m"
ROWS = """
__global__ void parts(const float *x, float *y, int rows, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x, t = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= rows || t >= 4) return;
    float s = 0.f;
    for (int p = n * r + t; p < n * r + n; p += 4) s += x[p];
    y[r * 4 + t] = s;
}"""


def _verified(source, values, shapes, **more):
    done = pipeline.translate(source, "k.cu")
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    asked = pipeline.Request(values=values, shapes=shapes, gradients=False, **more)
    agrees(done, asked)
    return done.text


@pytest.mark.parametrize(("n", "m"), [(7, 3), (4, 4), (3, 5), (1, 1)])
def test_shares(n, m):
    sizes = {"n": n, "m": m, "rows": 2}
    text = _verified(POOLED % (LAST, "0.f", "s + x[r * n + k]"), sizes, {"x": (2 * n,), "y": (2 * m,)})
    assert "loop" not in text


def test_the_greatest_of_a_share():
    _verified(
        POOLED % ("(o + 1) * n / m", "-1e30f", "fmaxf(s, x[r * n + k])"),
        {"n": 5, "m": 2, "rows": 2},
        {"x": (10,), "y": (4,)},
    )


def test_shares_of_other_sizes():
    done = pipeline.translate(POOLED % ("((o + 1) * n + n - 1) / n", "0.f", "s + x[r * n + k]"), "k.cu")
    assert {d.code for d in done.diagnostics} == {"KR205"}


def test_rows_from_a_thread():
    text = _verified(ROWS, {"rows": 3, "n": 10}, {"x": (30,), "y": (12,)}, grid=(1, 1), block=(4, 4))
    assert "reshape" in text and "loop" not in text
