"""Arrays of integers that floats are added to: each sum is cut off, not the sum of all (as numba does it)."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify import interpreter
from kraise.verify.load import load_module

SOURCE = """
from numba import cuda, int32


@cuda.jit
def own(x, y):
    s = cuda.local.array(1, int32)
    i = cuda.grid(1)
    if i < y.shape[0]:
        s[0] = i
        for k in range(x.shape[0]):
            s[0] += x[k] * 1.5
        y[i] = s[0]


@cuda.jit("void(float32[:], int32[:])")
def given(x, y):
    i = cuda.grid(1)
    if i < y.shape[0]:
        for k in range(x.shape[0]):
            y[i] += x[k]
        y[i] -= 0.5
        y[i] -= 0.5


@cuda.jit("void(float32[:], int32[:])")
def atomics(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        cuda.atomic.add(y, 0, x[i])
"""
X = np.array([1.25, -0.75, 0.5, 1.75, 0.9], np.float32)


@pytest.mark.parametrize(("name", "kind"), [("own", np.float32), ("given", np.int32), ("atomics", np.int32)])
def test_each_sum_is_cut_off(name, kind):
    done = pipeline.translate(SOURCE, "cells.py")
    y = np.array([3, -2], kind)
    want = y.astype(np.int32) if name != "own" else np.arange(2)
    if name == "atomics":
        want[0] += X.astype(np.int32).sum()
    else:
        for v in X * 1.5 if name == "own" else [*X, -0.5, -0.5]:
            want = np.trunc(want + v)
    got = getattr(load_module(done.text), name)(X, y)
    np.testing.assert_array_equal(got, want)
    run = interpreter.run(done.source, name, {"x": X, "y": y}, grid=(1,), block=(8,))
    np.testing.assert_array_equal(run.arrays["y"], want)
