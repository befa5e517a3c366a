"""Sums that are kept relative to a running extremum: one extremum and one sum, or a loop where the source says less."""

import pytest

from kraise import pipeline
from tests.checks import agrees

HEAD = "import math\n\ndef f(x, w, y):\n    n, m = x.shape\n    for i in range(n):\n"
BODY = """        top = {top}
        s = {start}
        t = 0.0
        for k in range({first}, m):
            v = x[i, k]
{round}
        y[i, 0] = top
        y[i, 1] = s
        y[i, 2] = t
"""
ROUNDS = {
    "maxima": """
            new = max(top, v)
            c = math.exp(top - new)
            p = math.exp(v - new)
            s = s * c + p
            t = t * c + p * w[k]
            top = new""",
    "a new one": """
            if v > top:
                s = s * math.exp(top - v) + 1.0
                t = t * math.exp(top - v) + w[k]
                top = v
            else:
                s += math.exp(v - top)
                t += w[k] * math.exp(v - top)""",
    "scaled, then added": """
            old = top
            if v > top:
                top = v
            s *= math.exp(old - top)
            s += math.exp(v - top)
            t = math.exp(v - top) * w[k] + math.exp(old - top) * t""",
    "rescaled where it changes": """
            if v > top:
                s *= math.exp(top - v)
                t *= math.exp(top - v)
                top = v
            s += math.exp(v - top)
            t += math.exp(v - top) / (2.0 + w[k])""",
    "twice as steep": """
            new = max(top, v)
            s = s * math.exp(2.0 * (top - new)) + math.exp((v - new) * 2.0)
            t = t * math.exp((top - new) * 2.0) - w[k] * math.exp(2.0 * v - 2.0 * new)
            top = new""",
    "minima": """
            new = min(top, v)
            s = s * math.exp(new - top) + math.exp(new - v)
            t = t * math.exp(new - top) + w[k] * math.exp(new - v)
            top = new""",
    "under a guard": """
            if w[k] > 0.5:
                new = max(top, v)
                s = s * math.exp(top - new) + math.exp(v - new)
                t = t * math.exp(top - new) + w[k] * math.exp(v - new)
                top = new""",
}
KEPT = {
    "another extremum": ROUNDS["maxima"].replace("math.exp(v - new)", "math.exp(v - top)"),
    "another scale": ROUNDS["twice as steep"].replace("math.exp(2.0 * (top - new))", "math.exp(3.0 * (top - new))"),
    "a term of its own": ROUNDS["maxima"].replace("s * c + p", "s * c + p + 0.5"),
    "squared": ROUNDS["maxima"].replace("s * c + p", "s * c + p * p"),
    "not scaled": ROUNDS["maxima"].replace("s * c + p", "s + p"),
    "another arm": ROUNDS["a new one"].replace("+ 1.0", "+ 2.0"),
    "used": ROUNDS["maxima"] + "\n            y[i, k] = top",
    "one more use": ROUNDS["maxima"] + "\n            w[k] = s",
}


def source(text, top="-math.inf", start="0.0", first="0"):
    text = HEAD + BODY.format(top=top, start=start, first=first, round=text.strip("\n"))
    return "from numba import njit\n\n@njit\n".join(["", text.replace("import math\n\n", "")]).replace(
        "from numba", "import math\n\nfrom numba", 1
    )


@pytest.mark.parametrize("name", ROUNDS)
def test_one_extremum_and_one_sum(name):
    top = "math.inf" if name == "minima" else "-math.inf"
    done = pipeline.translate(source(ROUNDS[name], top), "case.py")
    assert done.text is not None, done.diagnostics
    agrees(done, pipeline.Request())
    assert "fori_loop" not in done.text and "scan" not in done.text, done.text


@pytest.mark.parametrize(
    ("top", "start", "first"), [("x[i, 0]", "1.0", "1"), ("-100.0", "0.5", "0"), ("w[0]", "2.0", "0")]
)
def test_what_a_sum_begins_with(top, start, first):
    done = pipeline.translate(source(ROUNDS["maxima"], top, start, first), "case.py")
    assert done.text is not None, done.diagnostics
    agrees(done, pipeline.Request())
    assert "fori_loop" not in done.text and "lax.scan" not in done.text, done.text


@pytest.mark.parametrize("name", KEPT)
def test_another_recurrence_stays_a_loop(name):
    done = pipeline.translate(source(KEPT[name]), "case.py")
    if done.text is None:
        assert name in ("used", "one more use")  # rows of y, cells of w are stored again and again
        return
    agrees(done, pipeline.Request())
    assert "fori_loop" in done.text or "lax.scan" in done.text, done.text


def test_no_round_leaves_it_as_it_was():
    """Where nothing is met, an extremum of -inf is no reason for a sum that is no number."""
    text = source(ROUNDS["under a guard"], "-math.inf", "3.0")
    done = pipeline.translate(text.replace("> 0.5", "> 2.0"), "case.py")
    assert done.text is not None, done.diagnostics
    agrees(done, pipeline.Request())


CELLS = """import math

from numba import njit

@njit
def f(x, w, acc, y):
    n, m = x.shape
    width = w.shape[1]
    for i in range(n):
        top = -1e300
        s = 0.0
        for k in range(m):
            v = x[i, k]
            new = max(top, v)
            c = math.exp(top - new)
            p = math.exp(v - new)
            s = s * c + p
            for d in range(width):
{store}
            top = new
        y[i] = s
"""
STORES = {
    "one": "acc[i, d] = acc[i, d] * c + p * w[k, d]",
    "two": "acc[i, d] *= c; acc[i, d] += p * w[k, d]",
    "guarded": "acc[i, d] = acc[i, d] * c + (p * w[k, d] if w[k, d] > 0.5 else 0.0)",
    "subtracted": "acc[i, d] = c * acc[i, d] - w[k, d] * p",
}
OTHERS = {
    "another cell": "acc[i, d] = acc[i, width - 1 - d] * c + p * w[k, d]",
    "some cells": "\n                if d < k: acc[i, d] = acc[i, d] * c + p * w[k, d]".strip("\n "),
    "part of it": "acc[i, d] = acc[i, d] * c + p * w[k, d] + acc[i, 0]",
    "no weight": "acc[i, d] = acc[i, d] * c + w[k, d]",
    "read beside": "acc[i, d] = acc[i, d] * c + p * w[k, d]; y[i] = acc[i, d]",
    "each in its turn": "acc[i, d] = acc[i, d] * c + p * w[k, d] * acc[i, d]",
}


def of_cells(store):
    lines = "\n".join(f"                {line.strip()}" for line in store.split(";"))
    return pipeline.translate(CELLS.format(store=lines), "case.py")


@pytest.mark.parametrize("name", STORES)
def test_a_sum_for_each_cell(name):
    done = of_cells(STORES[name])
    assert done.text is not None, done.diagnostics
    agrees(done, pipeline.Request())
    assert "fori_loop" not in done.text and "lax.scan" not in done.text, done.text


@pytest.mark.parametrize("name", OTHERS)
def test_cells_that_are_no_such_sums(name):
    done = of_cells(OTHERS[name])
    if done.text is not None:
        agrees(done, pipeline.Request())
        assert "fori_loop" in done.text or "lax.scan" in done.text, done.text


def test_a_wider_sum():
    """A float's exponentials that a double adds up."""
    done = pipeline.translate(
        """__global__ void f(const float *x, float *y, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float top = -INFINITY;
    double sum = 0.0;
    for (int j = 0; j < m; j++) {
        float before = top, v = x[i * m + j];
        if (v > top) {
            top = v;
            sum = sum * expf(before - top) + expf(v - top);
        } else {
            sum += expf(v - top);
        }
    }
    for (int j = 0; j < m; j++) y[i * m + j] = expf(x[i * m + j] - top) / sum;
}
""",
        "case.cu",
    )
    assert done.text is not None, done.diagnostics
    agrees(done, pipeline.Request())
    assert "fori_loop" not in done.text and "lax.scan" not in done.text, done.text
