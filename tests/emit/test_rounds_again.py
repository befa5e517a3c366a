"""Rounds that the gradient runs again: few rounds, or as many as rows, that make all that they carry anew."""

import pytest

from kraise import pipeline
from kraise.options import Options
from tests.checks import agrees

AGAIN = "jax.checkpoint(step, prevent_cse=False)"
NEWTON = """def f(c, y):
    for i in range(c.shape[0]):
        v = 1.0 + c[i]
        for k in range(8):
            v = v - (v * v * v - c[i]) / (3.0 * v * v)
        y[i] = v
"""
ROWS = """def f(p, k, out):
    T, n = p.shape
    for i in range(n):
        s = 0.5
        for t in range(T):
            {body}
            out[t, i] = s
"""
SIR = "a = p[t, i] * s * (1.0 - s)\n            s = s + 0.1 * (a - k[i] * s * s)"
LINEAR = "s = s + p[t, i] - k[i] * s"
ELIMINATION = """def f(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] = a[i, k] / (4.0 + a[k, k])
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
"""


@pytest.mark.parametrize(
    ("source", "again"),
    [(NEWTON, True), (ROWS.format(body=SIR), True), (ROWS.format(body=LINEAR), False), (ELIMINATION, False)],
    ids=["newton", "rows", "linear", "parts of what is carried"],
)
def test_rounds(source, again):
    done = pipeline.translate(source, "case.py")
    assert (AGAIN in done.text) == again, done.text
    agrees(done, pipeline.Request(), done.text)


def test_none():
    assert AGAIN not in pipeline.translate(NEWTON, "case.py", Options(remat="none")).text
