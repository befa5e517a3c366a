"""Rounding that a program amplifies is no wrong value; what is wrong beside it still is."""

import numpy as np

from kraise import pipeline
from kraise.verify.cases import Case
from kraise.verify.compare import verify

SOURCE = """
from numba import cuda
@cuda.jit
def logistic(x, y, r, n):
    i = cuda.grid(1)
    if i < n:
        v = x[i]
        for _ in range(40):
            v = r * v * (1.0 - v)
        y[i] = v
"""


def rows(text, done, check="values"):
    x = np.linspace(0.1, 0.9, 7, dtype=np.float32)
    case = Case("logistic", {"x": x, "y": np.zeros(7, np.float32), "r": np.float32(3.9), "n": 7}, 1, 8)
    return [r for r in verify(done.source, text, "logistic", case).rows if r.check == check]


def test_chaos_is_not_called_wrong():
    done = pipeline.translate(SOURCE, "a.py")
    text = done.text.replace("(1.0 - v)", "((1.0 - v) * 1.0000001)")
    assert text != done.text, done.text
    (row,) = rows(text, done)
    assert row.status == "ok" and "rounding alone" in row.message
    assert rows(text, done, "values (64 bits)")[0].status == "failed"  # there it is another program


def test_a_wrong_factor_is():
    done = pipeline.translate(SOURCE.replace("range(40)", "range(3)"), "a.py")
    text = done.text.replace("(1.0 - v)", "((1.0 - v) * 1.001)")
    assert text != done.text and rows(text, done)[0].status == "failed"
