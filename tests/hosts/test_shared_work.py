"""What kernels in a loop make of arrays that the loop leaves alone is made once, before the loop."""

import re

import numpy as np
import pytest

from kraise import pipeline
from tests.hosts.test_hosts import agrees

KERNELS = """
from numba import cuda

@cuda.jit
def spread(start, column, weight, x, out):
    i = cuda.grid(1)
    if i < out.size:
        s = 0.0
        for e in range(start[i], start[i + 1]):
            s += weight[e] * x[column[e]]
        out[i] = 0.5 * s

@cuda.jit
def longer(start, n):
    i = cuda.grid(1)
    if i < 1:
        start[n] += 0
"""
LOOP = """
def f(start, column, weight, x0, m, tolerance):
    x = cuda.to_device(x0)
    y = cuda.device_array_like(x)
    for t in range(m):
        {body}
        x, y = y, x
        if abs(x.copy_to_host()[0]) < tolerance:
            break
    return x.copy_to_host()
"""
SPREAD = "spread[1, 32](start, column, weight, x, y)"


def host(body=SPREAD):
    return pipeline.translate(KERNELS + LOOP.format(body=body), "a.py")


def given(rounds=6):
    column = np.array([1, 0, 2, 3, 0, 1, 1], "int32")
    weight, x = np.array([1.5, -0.5, 0.25, 2.0, 1.0, -1.0, 0.5], "float32"), np.array([0.5, 1.0, -1.0, 2.0], "float32")
    return {"start": np.array([0, 2, 2, 5, 7], "int32"), "column": column, "weight": weight, "x0": x} | {
        "m": rounds,
        "tolerance": 1e-3,
    }


def made(arguments):
    done = host()
    agrees(done, "f", **arguments)
    return done.text


@pytest.mark.parametrize("rounds", [6, 0])
def test_rows_are_numbered_once(rounds):
    text = made(given(rounds))
    before, loop = text[text.index("def f(") :].split("def step(")
    assert "row = spread_once(start, column, weight, x0)" in before
    assert "spread_round(row, column, weight, x, x)" in loop and "spread(" not in loop


def test_in_a_loop_of_a_loop():
    body = f"for s in range(2 * m):\n            {SPREAD}\n            x[0] = y[1]"
    done = host(body)
    assert done.text is not None, done.diagnostics
    before = done.text[done.text.index("def f(") :].split("def ")[1]
    assert "spread_once(" in before


@pytest.mark.parametrize(
    "body", [f"longer[1, 32](start, x0.size)\n        {SPREAD}", f"{SPREAD}\n        longer[1, 32](start, x0.size)"]
)
def test_not_of_what_a_round_changes(body):
    done = host(body)
    assert done.text is not None, done.diagnostics
    assert not re.search(r"spread_once|spread_round", done.text)


def test_a_function_of_that_name():
    other = "\n@cuda.jit\ndef spread_once(x):\n    i = cuda.grid(1)\n    if i < x.size:\n        x[i] = 1.0\n"
    done = pipeline.translate(KERNELS + LOOP.format(body=SPREAD) + other, "a.py")
    assert done.text is not None and "spread_round" not in done.text
