"""Arrays of numbers that a function makes for itself and only reads, and dtypes by NumPy's codes."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module
from kraise.verify.request import Request
from tests.checks import agrees

HEAD = """
import numpy as np
from numba import njit
Q = np.array([1.0, -2.0, 0.5], 'd')
R = np.array([2, 3], dtype='i4')
"""
POINTS = """
def f(x):
    p = np.array([-1.0, 2, 5.0])
    s = 0.0
    for i in range(x.shape[0]):
        {}
    return s
"""
SUMS = [
    "for j in range(3):\n            s += (x[i] - p[j]) ** 2",
    "d = (x[i] - p) ** 2\n        s += np.sum(np.exp(-d)) - np.min(d)",
]


@pytest.mark.parametrize("line", SUMS)
def test_numbers_that_are_only_read_are_a_table(line):
    source = HEAD + POINTS.format(line)
    done = pipeline.translate(source, "k.py", Options(only=("f",)))
    assert "where(" not in done.text and "(-1.0, 2, 5.0)" in done.text, done.text
    made: dict = {}
    exec(source, made)
    x = np.linspace(-1.0, 2.0, 5)
    np.testing.assert_allclose(load_module(done.text).f(x[:]), made["f"](x), rtol=1e-5)


@pytest.mark.long
def test_gradients_of_distances_to_a_table():
    agrees(pipeline.translate(HEAD + POINTS.format(SUMS[1]), "k.py", Options(only=("f",))), Request(shapes={"x": (5,)}))


CHANGED = [
    "p[1] = 7.0",
    "p[1] += 1.0",
    "p *= 2.0",
    "q = p\n    q[1] = 7.0",
    "q = p[:2]\n    q[1] = 7.0",
    "put(p, 7.0)",
    "put(p[1:], 7.0)",
]


@pytest.mark.parametrize("line", CHANGED)
def test_numbers_that_change_are_no_table(line):
    source = HEAD + "def put(a, v):\n    a[0] = v\n" + POINTS.format(SUMS[0])
    source = source.replace("    s = 0.0\n", f"    {line}\n    s = 0.0\n")
    done = pipeline.translate(source, "k.py", Options(only=("f",)))
    if "f" not in done.raised:
        return
    made: dict = {}
    exec(source, made)
    x = np.linspace(-1.0, 2.0, 5)
    np.testing.assert_allclose(load_module(done.text).f(x), made["f"](x), rtol=1e-5)


def test_types_by_their_codes():
    source = HEAD + "def f(x, y):\n    for i in range(len(x)):\n        y[i] = x[i] * Q[i % 3] + R[i % 2]\n"
    done = pipeline.translate(source, "k.py", Options(only=("f",)))
    made: dict = {}
    exec(source, made)
    x, y = np.arange(5.0), np.zeros(5)
    got = load_module(done.text).f(x, y)
    made["f"](x, y)
    np.testing.assert_allclose(np.asarray(got), y, rtol=1e-6)
    unknown = source.replace("'i4'", "'U3'")
    assert not pipeline.translate(unknown, "k.py", Options(only=("f",))).raised
