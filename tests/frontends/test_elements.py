"""Loops over a few numbers, tuples by number, ranges with steps side by side."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module

SOURCE = """
def weights(x, y):
    w = (0.5, 2, -1)
    for i in range(len(y)):
        s = 0.0
        for k in range(3):
            s += w[k] * x[i + k] + w[-1 - k]
        y[i] = s

def parts(x, y):
    for i in range(len(y)):
        s = 0.0
        t = i
        for lo, hi in ((0, 1), (2, t), (t, 5)):
            t = 1
            s = 2 * s + x[hi] - x[lo]
        for q in (t, i + 2, 5):
            s += x[q] * q
        y[i] = s

def beside(x, y):
    n = len(x)
    s = 0.0
    for i, j, k in zip(range(n), range(n - 1, -1, -1), range(1, n, 2)):
        s += (i + 1) * x[j] + x[k]
    y[0] = s

def under(x, y):
    for i in range(len(y)):
        for _ in range(4):
            if x[i] <= _:
                break
            y[i] += _ + 1.0
"""


@pytest.mark.parametrize("name", ["weights", "parts", "beside", "under"])
def test_values(name):
    given = {}
    exec(SOURCE, given)
    f = getattr(load_module(pipeline.translate(SOURCE, "f.py", Options(only=(name,))).text), name)
    x, y = np.random.default_rng(4).random(8) * 4, np.zeros(5)
    got = f(x, y)
    given[name](x, y)
    assert np.asarray(got) == pytest.approx(y, rel=1e-5)


@pytest.mark.parametrize("old, new", [("s = 2 * s", "if s > 9: break\n            s = s"), ("(t, i + 2, 5)", "(x, y)")])
def test_rounds_that_are_left_or_arrays(old, new):
    assert old in SOURCE
    assert pipeline.translate(SOURCE.replace(old, new), "f.py", Options(only=("parts",))).text is None
