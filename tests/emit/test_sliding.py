"""What a diagonal, or a round, sees of a sequence is a slice that moves: no table, and no index arrays."""

import pytest

from kraise import pipeline
from tests.checks import verified

HEAD = "def f(d, a, b):\n    n, m = d.shape\n"
FRONT = "    for i in range(1, n):\n        for j in range(1, m):\n            "
ALONG = {
    "equal letters": (HEAD + FRONT + "d[i, j] = max(d[i-1, j-1] + (2.0 if a[i-1] == b[j-1] else -1.0), d[i-1, j])"
                      " - 0.5 * d[i, j-1]"),
    "products": (HEAD + FRONT + "d[i, j] = d[i-1, j] - 0.5 * d[i, j-1] + a[i] * b[j]"),
    "distances": (HEAD + FRONT + "d[i, j] = (a[i] - b[j]) ** 2 + min(d[i-1, j], d[i, j-1], d[i-1, j-1])"),
    "a quotient": (HEAD + FRONT + "d[i, j] = 0.5 * d[i-1, j] - 0.25 * d[i, j-1] + a[i - 1] / (1.0 + b[j-1] * b[j-1])"),
    "backwards": (HEAD + "    for i in range(n - 2, -1, -1):\n        for j in range(m - 2, -1, -1):\n            "
                  "d[i, j] = a[i] * b[j + 1] + 0.5 * d[i+1, j] - 0.25 * d[i, j+1]"),
}  # fmt: skip
ROUNDS = """
def f(x, w, y, n):
    for k in range(1, n):
        for i in range(n - k):
            y[i] = 0.5 * y[i] * y[i] + x[i + k] * w[k]
"""
STORED = """
def f(x, w, n):
    for k in range(1, n):
        for i in range(n - k):
            x[i] = 0.5 * x[i] + x[i + k] * w[k]
"""

INTERVALS = """
def f(d, a):
    n = a.shape[0]
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            s = 0.0
            for k in range(i, j):
                s += {term}
            d[i, j] = 0.1 * s + a[i]
"""


def text_and_reports(source):
    done = pipeline.translate("from numba import njit\n@njit\n" + source.strip("\n") + "\n", "case.py")
    assert done.text is not None, done.diagnostics
    reports, _ = verified(done, pipeline.Request())
    return done.text, [row for r in reports for row in r.rows if row.status not in ("ok", "note")]


@pytest.mark.parametrize("name", ALONG)
@pytest.mark.long_cases("products", "distances")
def test_along_diagonals(name):
    text, wrong = text_and_reports(ALONG[name])
    assert not wrong
    assert "dynamic_slice" in text and "[::-1]" in text
    assert "table" not in text or name == "backwards"  # that of the border's cells


def test_rounds():
    text, wrong = text_and_reports(ROUNDS)
    assert not wrong
    assert "dynamic_slice" in text and "x[" not in text.split('"""')[-1]


def test_no_copy_of_the_array_in_each_round():
    """The array is stored to in the loop: zeros around it would be put there in each round."""
    text, wrong = text_and_reports(STORED)
    assert not wrong
    assert "x_wide" not in text


@pytest.mark.parametrize("term, boxes", [("d[i, k] * d[k + 1, j]", 1), ("d[i, k] * d[2 * k - i, j]", 0)])
def test_a_box_that_moves_with_the_round(term, boxes):
    """Rows by the inner index and columns by what moves are a slice; rows by two indices are index arrays."""
    text, wrong = text_and_reports(INTERVALS.format(term=term))
    assert not wrong
    assert text.count("jax.lax.dynamic_slice(") == boxes, text


STEPS = """
__global__ void f(const float *a, const float *b, float *oa, float *ob) {
    __shared__ float sa[64], sb[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    sa[t] = a[i]; sb[t] = b[i];
    __syncthreads();
    for (int d = START) {
        float p = NONE, q = 0.f;
        if (INSIDE) { p = sa[t OFF]; q = sb[t OFF]; }
        __syncthreads();
        sb[t] = sa[t] * q + 0.5f * sb[t];
        sa[t] = sa[t] * p;
        __syncthreads();
    }
    oa[i] = sa[t]; ob[i] = sb[t];
}
"""


@pytest.mark.parametrize(
    ("start", "inside", "off"),
    [
        ("1; d < 64; d *= 2", "t >= d", "- d"),
        ("1; d < 64; d <<= 1", "t + d < 64", "+ d"),
        ("2; d < 300; d *= 2", "t >= d", "- d"),  # rounds that reach beyond the block
        ("32; d > 0; d /= 2", "t + d < 64", "+ d"),
        ("32; d > 0; d >>= 1", "t - d >= 0", "- d"),
        ("1; d < 64; d *= 4", "t >= d + 1", "- d - 1"),
        ("1; d < 64; d *= 2", "t + 2 * d < 64", "+ 2 * d"),
    ],
)
@pytest.mark.long_cases("d <<= 1", "d >>= 1", "d *= 4", "t + 2 * d < 64")
def test_steps_that_double_their_reach(start, inside, off):
    """What a step shifts by is a number of the round: a slice that moves, of the array between zeros."""
    text = STEPS.replace("START", start).replace("INSIDE", inside).replace("OFF", off).replace("NONE", "1.5f")
    done = pipeline.translate(text, "case.cu")
    assert done.text is not None, done.diagnostics
    reports, _ = verified(done, pipeline.Request())
    assert not [row for r in reports for row in r.rows if row.status not in ("ok", "note")]
    assert "dynamic_slice_in_dim" in done.text and "get(" not in done.text
    assert done.text.count("fori_loop") == 1


def test_steps_over_an_array_of_any_length():
    text, wrong = text_and_reports("""
def f(x, n):
    y = x.copy()
    z = x.copy()
    d = 1
    while d < n:
        for i in range(n):
            z[i] = 0.5 * y[i] + (y[i - d] * y[i - d] if i >= d else 0.25)
        for i in range(n):
            y[i] = z[i]
        d = 2 * d
    return y
""")
    assert not wrong
    assert "dynamic_slice_in_dim" in text and "get(" not in text
