"""Loops over a few values, ``in`` a tuple, ``_`` as a name, nested unpacking, helpers that return early."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module

SOURCE = """
def turn(a, b):
    p = a * b
    if p < 0:
        return b, 0.0
    c = p + a
    return p, c


def values(x, p, y):
    for i in range(len(x)):
        a, b, c = p[i, 0], p[i, 1], p[i, 2]
        for q in (a, b, c):
            y[i] += x[q] * (q + 1)
            a = 7


def pairs(x, p, y):
    for i in range(1, len(x) - 1):
        for d, w in ((0, 2.0), (1, 5.0), (-1, 3.0)):
            y[i] = 0.5 * y[i] + w * x[i + d]


def among(x, p, y):
    for i in range(len(x)):
        if p[i, 0] in (0, 2, 3):
            y[i] = x[i]
        elif p[i, 0] not in (1, 5):
            y[i] = 9.0


def blank(x, p, y):
    for i in range(len(x)):
        for _ in range(3):
            y[i] += _ * x[p[i, _]]


def nested(x, p, y):
    for i in range(len(x)):
        (a, b), c = turn(x[i], 0.5 - x[i]), x[i]
        p_, c = turn(c, a)
        y[i] = a + 2 * b + 3 * c + 4 * p_
"""
REFUSED = {
    "break": ("for q in (1, 5, 2):\n            if x[q] > 0:\n                break", "KR299"),
    "in an array": ("if 1 in x:\n            y[i] = 1", "KR101"),
}


@pytest.fixture(scope="module")
def module():
    return load_module(pipeline.translate(SOURCE, "f.py", Options()).text)


@pytest.mark.parametrize("name", ["values", "pairs", "among", "blank", "nested"])
def test_values(module, name):
    source: dict = {}
    exec(SOURCE, source)
    x, p, y = np.array([0.5, -2.0, 3.0, 0.25, 1.5]), np.arange(15).reshape(5, 3) * 7 % 5, np.ones(5)
    found = getattr(module, name)(x, p, y)
    source[name](x, p, y)
    np.testing.assert_allclose(found, y, rtol=1e-6)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    body, code = REFUSED[name]
    source = f"def f(x, y):\n    for i in range(len(x)):\n        {body}\n"
    done = pipeline.translate(source, "f.py", Options(only=("f",)))
    assert done.text is None and any(d.code.startswith(code) for d in done.diagnostics), done.text
