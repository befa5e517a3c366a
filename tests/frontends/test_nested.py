"""Functions that a function defines for itself: with what they see of it as it is when they are called."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

SOURCE = """
def rising(x, y, a):
    k = 3

    def weight(v):
        "Of one value."
        return k * v + a

    def both(i, by=2.0):
        return weight(x[i]) * by

    for i in range(len(x)):
        y[i] = both(i)
        a = a + 1.0
    return a

def stored(x, y):
    n = len(x)

    def put(i, v):
        y[n - 1 - i] = v

    for i in range(n):
        put(i, 2.0 * x[i])

def farthest(p):
    def distance(i, j):
        s = 0.0
        for d in range(p.shape[1]):
            s += (p[i, d] - p[j, d]) ** 2
        return s

    best = 0.0
    for i in range(p.shape[0]):
        for j in range(i):
            best = max(best, distance(i, j))
    return best
"""


def arguments(name):
    rng = np.random.default_rng(1)
    x = rng.standard_normal(5)
    return {"rising": (x, np.zeros(5), 0.25), "stored": (x, np.zeros(5)), "farthest": (rng.standard_normal((6, 3)),)}[
        name
    ]


@pytest.fixture(scope="module")
def module():
    done = pipeline.translate(SOURCE, "f.py")
    assert not done.diagnostics, done.diagnostics
    return load_module(done.text)


@pytest.mark.parametrize("name", ["rising", "stored", "farthest"])
def test_what_it_sees(module, name):
    made: dict = {}
    exec(SOURCE, made)
    given, own = arguments(name), arguments(name)
    value = made[name](*own)
    got = getattr(module, name)(*given)
    got = got if isinstance(got, tuple) else (got,)
    expected = [*(() if value is None else (value,)), *([own[1]] if name != "farthest" else [])]
    for g, e in zip(got, expected, strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-5)


KEPT = {
    "handed on": "    def g(v):\n        return v + a\n    h = g\n    for i in range(len(x)):\n        x[i] = h(x[i])",
    "in a branch": "    if a > 0:\n        def g(v):\n            return v + a\n"
    "    for i in range(len(x)):\n        x[i] = g(x[i])",
    "sets what is outside": "    def g(v):\n        nonlocal a\n        a = a + v\n        return a\n"
    "    for i in range(len(x)):\n        x[i] = g(x[i])",
    "hidden by a comprehension": "    def g(v):\n        return v + a\n"
    "    for i in range(len(x)):\n        x[i] = sum(g(x[i]) for a in range(3))",
}


@pytest.mark.parametrize("name", KEPT)
def test_what_stays_refused(name):
    done = pipeline.translate(f"def f(x, a):\n{KEPT[name]}\n", "f.py", pipeline.Options(only=("f",)))
    assert done.text is None or "def f(" not in done.text
    assert {"KR101", "KR102", "KR103"} & {d.code for d in done.diagnostics}
