"""Loops over a few numbers, tuples by number, ranges with steps side by side."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module
from tests.checks import agrees

SOURCE = """
import math
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

def parted(x, y):
    for i in range(len(y)):
        part, whole = math.modf(3 * x[i] - 5)
        y[i] = part + 10 * whole

def binary(x, y):
    for i in range(len(y)):
        part, power = math.frexp(3 * x[i] - 5)
        y[i] = 3 * part + math.ldexp(x[i], power)

def under(x, y):
    for i in range(len(y)):
        for _ in range(4):
            if x[i] <= _:
                break
            y[i] += _ + 1.0
"""


@pytest.mark.parametrize("name", ["weights", "parts", "beside", "parted", "binary", "under"])
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


TUPLES = """
def among(x, y):
    for i in range(len(y)):
        k = int(x[i])
        y[i] = 1.0 if k in (0, 3) else (2.0 if k not in (1, 4) else x[i])
        if y[i] > 1 and x[i] - k not in (2, 3) or k < 1 and k + i in (1, 5):
            y[i] *= 3.0

def order(x, y):
    for i in range(len(y)):
        a, b = int(x[i]), int(x[i + 1])
        y[i] = (1.0 if (a, x[i]) < (b, x[i + 1]) else 0.0) + (2.0 if (a, b) >= (b, 2) else 0.0)
        if (a, b) != (b, a):
            y[i] += 4.0
"""


@pytest.mark.parametrize("name", ["among", "order"])
def test_tuples_are_compared(name):
    given = {}
    exec(TUPLES, given)
    f = getattr(load_module(pipeline.translate(TUPLES, "f.py", Options(only=(name,))).text), name)
    x, y = np.random.default_rng(5).random(9) * 4, np.zeros(8)
    got = f(x, y)
    given[name](x, y)
    assert np.asarray(got) == pytest.approx(y, rel=1e-5)


def test_what_is_in_an_array():
    assert pipeline.translate(TUPLES.replace("in (0, 3)", "in x"), "f.py", Options(only=("among",))).text is None


def test_names_of_a_helper_are_its_own():
    source = """
from numba import cuda

@cuda.jit(device=True)
def state(r):
    if r < 0.5:
        return 0.5, 0.0
    c = r * r
    return r, c

@cuda.jit
def f(x, y):
    i = cuda.grid(1)
    if i < y.shape[0]:
        p, c = state(x[i])
        y[i] = p + c
"""
    f = load_module(pipeline.translate(source, "f.py").text).f
    assert f(np.array([0.0, 2.0]), np.zeros(2)).tolist() == [0.5, 6.0]


ROWS = """
from numba import cuda

@cuda.jit
def f(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        part, whole = cuda.libdevice.modff(x[i])
        s, c = cuda.libdevice.fast_sincosf(part)
        y[i] = s, 2 * c
        y[i] = y[i, 1] + whole, y[i, 0]
"""


def test_a_row_takes_a_tuple_and_pairs_of_libdevice():
    done = pipeline.translate(ROWS, "f.py")
    x = np.random.default_rng(4).normal(size=5).astype(np.float32) * 4
    got = load_module(done.text).f(x, np.zeros((5, 2), np.float32))
    part, whole = np.modf(x)
    assert np.asarray(got) == pytest.approx(np.stack([2 * np.cos(part) + whole, np.sin(part)], axis=1), rel=1e-5)


@pytest.mark.parametrize("target", ["y", "y[i, 0]", "x[i]"])
def test_only_a_row_takes_a_tuple(target):
    assert pipeline.translate(ROWS.replace("y[i] = s,", f"{target} = s,"), "f.py").text is None


NEIGHBOURS = """
def f(u, out):
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            s = 0.0
            for dx, dy in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                x = i + dx
                y = j + dy
                if x < 0 or x >= u.shape[0] or y < 0 or y >= u.shape[1]:
                    continue
                s += u[x, y]
            out[i, j] = s
"""
ARMS = """
def f(u, out):
    for i in range(1, u.shape[0] - 1):
        s = 0.0
        for dx, w in ((1, 0.5), (-1, 0.25), (0, 2.0)):
            v = u[i + dx]
            if v > 0.5:
                s += 1.0
                continue
            elif v > 0.25:
                s *= v
            else:
                for k in range(2):
                    if v < 0.2:
                        continue
                    s -= v
            s += v * v * w
        out[i] = s
"""


@pytest.mark.parametrize("source", [NEIGHBOURS, ARMS])
def test_rounds_that_end_early(source):
    done = pipeline.translate(source, "f.py")
    assert done.text is not None and "loop" not in done.text, done.diagnostics
    agrees(done, pipeline.Request(), done.text)


def test_loops_that_are_left_early():
    done = pipeline.translate(NEIGHBOURS.replace("continue", "break"), "f.py")
    assert done.text is None and done.diagnostics


GIVEN = """
def f(x, y, ab, c):
    a, b = ab
    for i in range(len(y)):
        y[i] = a * x[i] + b * c
"""


def test_a_tuple_that_is_given_is_taken_apart():
    f = load_module(pipeline.translate(GIVEN, "f.py", Options(only=("f",))).text).f
    x = np.arange(4.0)
    assert np.asarray(f(x, np.zeros(4), (2.0, 3.0), 0.5)) == pytest.approx(2 * x + 1.5)
    slope = jax.grad(lambda ab: f(x, np.zeros(4), ab, 0.5).sum())(np.array([2.0, 3.0]))
    assert np.asarray(slope) == pytest.approx([6.0, 2.0])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    a, b = ab\n", "    if c > 0:\n        ab = (1.0, 2.0)\n    a, b = ab\n"),
        ("a * x[i] + b * c\n", "ab[0] * x[i] + b * c\n        ab = (b, a)\n"),
        ("    a, b = ab\n    for", "    if c > 0:\n        ab = (1.0, 2.0)\n    a, b = ab[0], ab[1]\n    for"),
        (
            GIVEN,
            "def f(x, y, c):\n    if x[0] > 0:\n        c = lambda v: v\n    for i in range(3):\n        y[i] = c(i)",
        ),
    ],
)
def test_parameters_that_become_a_tuple_or_a_lambda(old, new):
    """What they were before was forgotten, also where the assignment is not reached."""
    assert old in GIVEN
    assert pipeline.translate(GIVEN.replace(old, new), "f.py", Options(only=("f",))).text is None
