"""Members of the rows of a flat array, each loaded by itself: columns of a matrix."""

import pytest

from kraise import pipeline
from tests.checks import agrees

HEAD = "__global__ void f(float *a, const int *q, float *y, int n) { int t = blockIdx.x * blockDim.x + threadIdx.x;"
FORMS = {
    "all members": ("if (t < n) y[t] = a[3 * t] * a[3 * t + 2] - a[3 * t + 1];", "a2[:, 2]"),
    "pairs of rows": (
        "if (t < n) { float s = 0.0f; for (int j = 0; j < n; j++) s += (a[3 * j] - a[3 * t]) * a[3 * j + 1] * "
        "(a[3 * j + 2] + a[3 * t + 1] * a[3 * t + 2]); y[t] = s; }",
        "a2[:, 0, None]",
    ),
    "data and axes": (
        "if (t < n) y[t] = a[3 * q[t]] * a[3 * t + 2] - a[3 * q[t] + 1] + a[3 * t] * a[3 * t + 1] * a[3 * q[t] + 2];",
        "a_row[:, 1]",
    ),
    "from the second row": ("if (t > 0 && t < n) y[t] = a[3 * t] * a[3 * t + 2] - a[3 * t + 1];", "a2[1:n, 2]"),
    "one is missing": ("if (t < n) y[t] = a[3 * t] * a[3 * t + 1];", "a[1 : 3 * n + 1 : 3]"),
    "stored to": (
        "if (t < n) { y[t] = a[3 * t] * a[3 * t + 2] - a[3 * t + 1]; a[3 * t + 1] = y[t]; }",
        "a[2 : 3 * n + 2 : 3]",
    ),
    "pairs": ("if (t < n) y[t] = a[2 * t] * a[2 * t + 1];", "a[1 : 2 * n + 1 : 2]"),
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.long) if n == "pairs" else n for n in FORMS])
def test_columns(name):
    body, shown = FORMS[name]
    done = pipeline.translate(f"{HEAD} {body} }}", "case.cu")
    assert shown in done.text, done.text
    agrees(done, pipeline.Request(), done.text)


def test_rows_of_columns_are_a_store_a_row():
    body = "a, b, c, d = A[i, 0, 0], A[i, 0, 1], A[i, 1, 0], A[i, 1, 1]; r = 1.0 / (a * d - b * c + 9.0)\n"
    rows = "B[i, 0, 0] = d * r; B[i, 0, 1] = -b * r; B[i, 1, 0] = -c * r; B[i, 1, 1] = a * r"
    done = pipeline.translate(f"def f(A, B):\n  for i in range(A.shape[0]):\n    {body}    {rows}\n", "case.py")
    assert done.text and done.text.count("jnp.stack(") == 2, done.text
    agrees(done, pipeline.Request(), done.text)
