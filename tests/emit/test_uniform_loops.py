"""Loops whose condition is one for all lanes, counters that double, powers that are numbers."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

KERNEL = """
from numba import cuda
@cuda.jit
def f(x, y, n):
    i = cuda.grid(1)
    if i < n:
        t = {start}
        while t < 20:
            y[i] += x[i] * t
            if y[i] > 7.0:
                y[i] -= 3.0
            t {step}
"""


def run(start, step):
    done = pipeline.translate(KERNEL.format(start=start, step=step), "a.py")
    assert done.raised == ("f",)
    x, y = np.linspace(0.5, 1.5, 5, dtype=np.float32), np.ones(5, np.float32)
    found = np.asarray(load_module(done.text).f(x, y, 5))
    expected = y.copy()
    t = 5 if start == "n" else int(start)
    while t < 20:
        expected += x * t
        expected[expected > 7.0] -= 3.0
        t = {"+= t": 2 * t, "= t + t": 2 * t, "= t * t": t * t, "+= 3": t + 3}[step]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    return done.text


@pytest.mark.parametrize("step", ("+= t", "= t + t", "= t * t"))
def test_a_condition_for_all_lanes_is_no_mask_in_its_rounds(step):
    """Once ``t + t`` was emitted, which aborts the process in XLA where the start is a number."""
    text = run("n", step)
    assert "while_loop" in text and text.count("t < 20") == 2  # the equations and the loop's own condition


def test_powers_that_are_numbers_are_not_checked_when_called():
    assert "raise ValueError" not in run("1", "+= t")


EXITS = """
def f(x, y):
    for i in range(len(x)):
        s = 0.0
        for k in range(9):
            slope = 1.0 - x[i] * s
            if slope < 0.3 - 0.001 * k:  # the round decides, too: a flag is needed
                break
            s += x[i] / slope
            {second}
        y[i] = s
"""


@pytest.mark.parametrize("second", ["pass", "if x[i] - s < -0.2:\n                break"])
def test_what_has_left_a_loop_is_asked_once(second):
    source, own = EXITS.format(second=second), {}
    text = pipeline.translate(source, "k.py").text
    exec(source, own)
    x, expected = np.array([0.5, 3.0, -1.0, 0.2, 0.1]), np.zeros(5)
    own["f"](x, expected)
    assert text.count("stopped |") + text.count("| stopped") == 1 == text.count("either = ")
    np.testing.assert_allclose(load_module(text).f(x, np.zeros(5)), expected.astype("f"), rtol=1e-5)


@pytest.mark.parametrize("term, unrolled", [("c[k]", True), ("c[k] * w[k, i]", False), ("math.sin(c[k])", False)])
def test_rounds_of_a_few_products_are_unrolled(term, unrolled):
    """Not those that load a row, or hold more."""
    source = f"""
import math

def f(x, c, w, y, n, m):
    for i in range(n):
        v = 0.0
        for k in range(m - 1, -1, -1):
            v = v * x[i] + {term}
        y[i] = v
"""
    done = pipeline.translate(source, "k.py")
    for m in (0, 3, 11):
        shapes = {"x": (4,), "c": (m,), "w": (m, 4), "y": (4,)}
        agrees(done, pipeline.Request(shapes=shapes, values={"n": 4, "m": m}))
    assert ("unroll=8" in done.text) == unrolled, done.text
