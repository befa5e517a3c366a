"""Tangents of whole runs against central differences of runs."""

import numpy as np
import pytest

from kraise.frontends import python
from kraise.verify.interpreter import run

SOURCE = """
import math
import numpy as np
from numba import cuda

@cuda.jit
def branches(x, y, n):
    i = cuda.grid(1)
    if i < n:
        v = x[i]
        if v > 0:
            v = math.sqrt(v) * x[n - 1 - i]
        else:
            v = math.exp(v)
        s = 0.0
        for j in range(i):
            s += v * x[j] ** 2
        y[i] = max(s, 0.1 * v) + abs(v)

@cuda.jit
def shared_sum(x, y):
    s = cuda.shared.array(8, dtype=np.float64)
    t = cuda.threadIdx.x
    s[t] = math.sin(x[cuda.grid(1)])
    cuda.syncthreads()
    w = 4
    while w > 0:
        if t < w:
            s[t] += s[t + w]
        cuda.syncthreads()
        w //= 2
    if t == 0:
        cuda.atomic.add(y, 0, s[0] * s[0])

def fold(a, b):
    for i in range(1, a.shape[0]):
        a[i] = a[i - 1] * b[i] + a[i]
    return a[a.shape[0] - 1] / b[0]
"""


@pytest.fixture(scope="module")
def module():
    ir, findings = python.read(SOURCE, "k.py", only=("branches", "shared_sum", "fold"))
    assert not findings
    return ir


def check(module, name, arguments, wrt, read, launch=None):
    rng = np.random.default_rng(3)
    directions = {n: rng.uniform(-1, 1, (2, *arguments[n].shape)) for n in wrt}
    got = read(run(module, name, arguments, duals=directions, widen=True, **(launch or {})), True)
    h = 1e-6
    for d in range(2):
        up = {n: v + h * directions[n][d] if n in wrt else v for n, v in arguments.items()}
        down = {n: v - h * directions[n][d] if n in wrt else v for n, v in arguments.items()}
        above, below = (read(run(module, name, a, **(launch or {})), False) for a in (up, down))
        np.testing.assert_allclose(got[d], (above - below) / (2 * h), rtol=1e-6, atol=1e-9)


def test_branches_loops_and_selects(module):
    x = np.array([0.5, -0.7, 1.3, 0.2, -1.1, 0.9, 2.0])
    arguments = {"x": x, "y": np.zeros(7), "n": 7}
    launch = {"grid": 2, "block": 4}
    check(module, "branches", arguments, ["x"], lambda o, t: (o.tangents if t else o.arrays)["y"], launch)


def test_shared_memory_barriers_and_atomics(module):
    arguments = {"x": np.linspace(-1, 2, 16), "y": np.zeros(1)}
    launch = {"grid": 2, "block": 8}
    check(module, "shared_sum", arguments, ["x"], lambda o, t: (o.tangents if t else o.arrays)["y"], launch)


def test_in_place_recurrence_and_returned_scalar(module):
    arguments = {"a": np.linspace(0.5, 1, 5), "b": np.linspace(1, 2, 5)}
    check(module, "fold", arguments, ["a", "b"], lambda o, t: o.returned_tangents[0] if t else o.returned[0])
    check(module, "fold", arguments, ["b"], lambda o, t: (o.tangents if t else o.arrays)["a"])


def test_a_branch_that_is_not_taken_contributes_nothing():
    source = "def f(x, y):\n    for i in range(y.shape[0]):\n        y[i] = 1.0 / x[i] if x[i] != 0 else x[i]\n"
    ir, _ = python.read(source, "k.py", only=("f",))
    x = np.array([0.0, 2.0])
    out = run(ir, "f", {"x": x, "y": np.zeros(2)}, duals={"x": np.ones((1, 2))})
    np.testing.assert_array_equal(out.tangents["y"], [[1.0, -0.25]])
