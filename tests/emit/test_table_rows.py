"""Values along an index of the module's tables, row by row; and what stays an axis."""

import pytest

from kraise import pipeline
from tests.checks import agrees

HEAD = (
    "EX = (0, 1, -2)\nW = (0.5, 0.25, 0.125)\n"
    "def f(x, y, z):\n n, m = z.shape\n for i in range(n):\n  for j in range(m):\n"
)
STORED = "   for q in range({}):\n    y[{}, i, j] = {}\n"
ROWS = {
    "rows and tables": ("3", "q", "W[q] * (x[q, i, j] + EX[q] * z[i, j])"),
    "a root beside": ("3", "q", "EX[q] * math.sqrt(1 + z[i, j] ** 2) * z[i, j]"),
    "the first rows": ("2", "q", "W[q] * x[q, i, j] + 2 * z[i, j]"),
    "numbers of rows": ("3", "q", "W[q] * x[q, 0, 0] + z[i, j]"),
    "numbers that it chooses": ("3", "q", "(0.5 if q == 0 else 1 / 3 if q < 2 else 2.0) * (x[q, i, j] + z[i, j] ** 2)"),
    "data that it chooses": ("3", "q", "(0.5 if q == 0 else z[i, j]) * x[q, i, j]"),
    "the index itself": ("3", "q", "q * EX[q] * z[i, j]"),
    "backwards": ("3", "q", "EX[2 - q] * x[q, i, j] + z[i, j]"),
    "the next row": ("2", "q", "EX[q] * x[q + 1, i, j] + z[i, j]"),
    "another order": ("3", "q", "EX[q] * x[q, j, i] + z[i, j]"),
    "no table": ("3", "q", "x[q, i, j] * z[i, j] + 1"),
}
BY_ROW = ("rows and tables", "a root beside", "the first rows", "numbers that it chooses")
LATER = ("a root beside", "numbers of rows", "another order")  # alike others: the long tier
SUMS = {
    "by a table": ("EX[q] * x[q, i, j]", True),
    "of several": ("W[q] * x[q, i, j] * x[q, i, j]", True),
    "by chosen numbers": ("(2 if q == 1 else -1) * x[q, i, j]", True),
    "by the index": ("q * x[q, i, j]", False),
    "of rows that move": ("EX[q] * x[q, i, (j + 1) % m]", False),
}


def _checked(source, size=(2, 2)):
    done = pipeline.translate("import math\n" + source, "k.py")
    assert done.text is not None, done.diagnostics
    request = pipeline.Request(shapes={"x": (3, *size), "y": (3, *size), "z": size})
    agrees(done, request, done.text)
    return done.text


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.long) if n in LATER else n for n in ROWS])
def test_stores(name):
    text = _checked(HEAD + STORED.format(*ROWS[name]))
    assert ("def term(" in text) == (name in BY_ROW), text


@pytest.mark.parametrize("name", SUMS)
def test_sums(name):
    value, by_row = SUMS[name]
    text = _checked(HEAD + f"   s = 0.0\n   for q in range(3):\n    s += {value}\n   z[i, j] = s\n")
    assert ("in zip(" in text) == by_row, text


def test_a_sum_by_the_tables_that_a_store_uses_too():
    """Both run over q: what comes in with a row of one is none of the other's."""
    sums = "   s = 0.0\n   for q in range(3):\n    s += EX[q] * x[q, i, j]\n"
    text = _checked(HEAD + sums + STORED.format("3", "q", "W[q] * s * x[q, i, j] - EX[q] * s"))
    assert text.count("zip(") == 2, text


@pytest.mark.long
def test_rows_that_go_round():
    """All rows, rolled, have one name: what sums them up and what is stored takes them from there."""
    source = """
__constant__ int e[11] = {0, 1, -1, 1, 0, -1, 1, 0, 0, 1, 1};
__constant__ float w[11] = {1.5f, 1.5f, 1.5f, 1.5f, 1.5f, 1.5f, 1.5f, 1.5f, 0.5f, 0.25f, 0.125f};
__global__ void f(const float* x, float* y, int n, int m) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= m || i >= n) return;
    float v[11], s = 0, t = 0;
    for (int q = 0; q < 11; q++) {
        v[q] = x[(q * n + i) * m + (j - e[q] + m) % m];
        s += v[q];
        t += e[q] * v[q];
    }
    for (int q = 0; q < 11; q++) y[(q * n + i) * m + j] = w[q] * s + e[q] * t * v[q];
}"""
    done = pipeline.translate(source, "k.cu")
    text = (done.text or "").partition("def f(")[2]
    assert text.count("jnp.roll(") == 1 and "zip(jnp.unstack(x_at)" in text and "jnp.array" not in text, text
    agrees(done, pipeline.Request(shapes={"x": (66,), "y": (66,)}, values={"n": 2, "m": 3}), text)
