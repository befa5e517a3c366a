"""Loops in steps of a size over some whole rows have as many rounds as rows, and leave no row before its end."""

import pytest

from kraise import pipeline
from tests.checks import agrees

KERNEL = """__global__ void f(const float *x, float *y, int n, int m) {{
  int t = threadIdx.x + blockDim.x * blockIdx.x;
  if (t >= m) return;
  float s = 1;
  {}
  y[t] = s;
}}"""
COLUMNS = "for (int i = t; i < n * m; i += m) s += x[i] * x[i];"
BACK = "for (int i = m * (n - 1) + t; i >= t; i -= m) s = s * 0.5f + x[i];"
ODD = "for (int i = t; i < n * m - 1; i += m) s += x[i] * x[i];"  # the last column ends a row sooner
AHEAD = "for (int i = t + 1; i < n * m; i += m) s += x[i] * x[i];"


def done(loop):
    return pipeline.translate(KERNEL.format(loop), "f.cu")


def test_columns():
    """There was a mask, and a quotient for the rows."""
    text = done(COLUMNS).text
    assert text and "x[: n * m].reshape(n, m)" in text and "where" not in text, text


@pytest.mark.long
def test_values_and_gradients():
    for loop in (COLUMNS, BACK, ODD, AHEAD):
        found = done(loop)
        assert found.text and ("// m" in found.text) == (loop is ODD), found.text
        for n, m in ((3, 4), (1, 1), (2, 1)):
            shapes = {"x": (n * m + 1,), "y": (m,)}
            agrees(found, pipeline.Request(shapes=shapes, values={"n": n, "m": m}, grid=(1,), block=(8,)), found.text)


def test_rows_that_overlap_are_refused():
    assert not done(COLUMNS.replace("s +=", "y[i / 2] =").replace(" * x[i]", "")).raised
