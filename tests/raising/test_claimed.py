"""Parallel loops: free rounds and reductions are taken; what is a race in the source is refused."""

import pytest

from kraise import pipeline
from kraise.options import Options
from tests.checks import agrees

HEAD = "import numba\nimport numpy as np\n@numba.njit(parallel=True)\n"
TAKEN = {
    "own cells": "def f(x, y):\n    for i in numba.prange(1, len(x)):\n        y[i] = x[i - 1] * x[i]\n",
    "a sum": "def f(x, y):\n    s = 0.0\n    for i in numba.prange(len(x)):\n        s += x[i] * x[i]\n    y[0] = s\n",
    "a maximum and a count": "def f(x, y):\n    s = 0.0\n    c = 0\n    for i in numba.prange(len(x)):\n"
    "        s = max(s, x[i])\n        if x[i] > 0:\n            c += 1\n    y[0] = s\n    y[1] = c\n",
    "a loop of its own": "def f(x, y):\n    for i in numba.prange(len(x)):\n        t = 0.0\n"
    "        for j in range(3):\n            t = 0.5 * t + x[i] * j\n        y[i] = t\n",
    "a cell that is added to": "def f(x, y):\n    for i in numba.prange(len(x)):\n        y[i // 2] += x[i]\n",
    "steps in time": "def f(x, y):\n    for t in range(3):\n        for i in numba.prange(1, len(x) - 1):\n"
    "            y[i] = x[i - 1] + x[i + 1]\n        for i in numba.prange(1, len(x) - 1):\n            x[i] = y[i]\n",
    "scratch of each round": "def f(x, y):\n    for i in numba.prange(len(x)):\n        t = np.zeros(2)\n"
    "        t[0] = x[i]\n        t[1] = t[0] * 2.0\n        y[i] = t[0] * t[1]\n",
}
RACES = {
    "a neighbour": "def f(x, y):\n    for i in numba.prange(1, len(x)):\n        y[i] = y[i - 1] + x[i]\n",
    "one cell": "def f(x, y):\n    for i in numba.prange(len(x)):\n        y[0] = x[i]\n",
    "scratch of all": "def f(x, y):\n    t = np.zeros(1)\n    for i in numba.prange(len(x)):\n"
    "        t[0] = x[i]\n        y[i] = t[0] * 2.0\n",
    "a recurrence": "def f(x, y):\n    s = 0.0\n    for i in numba.prange(len(x)):\n"
    "        s = 0.5 * s + x[i]\n    y[0] = s\n",
    "a running sum": "def f(x, y):\n    s = 0.0\n    for i in numba.prange(len(x)):\n"
    "        s += x[i]\n        y[i] = s\n",
    "in place": "def f(x, y):\n    for t in range(3):\n        for i in numba.prange(1, len(x) - 1):\n"
    "            x[i] = x[i - 1] + x[i + 1]\n",
}


@pytest.mark.parametrize("name", TAKEN)
def test_free_rounds_and_reductions(name):
    done = pipeline.translate(HEAD + TAKEN[name], "k.py", Options(only=("f",)))
    assert done.raised, done.diagnostics
    agrees(done, pipeline.Request(gradients=True, shapes={"x": (6,), "y": (6,)}), name)


@pytest.mark.parametrize("name", RACES)
def test_a_dependence_between_rounds_is_a_race(name):
    done = pipeline.translate(HEAD + RACES[name], "k.py", Options(only=("f",)))
    assert not done.raised and [d.code for d in done.diagnostics] == ["KR201"], done.text
    assert "use range" in done.diagnostics[0].hint
    for plain in (RACES[name].replace("numba.prange", "range"), "numba.njit"):
        head = HEAD if plain != "numba.njit" else "import numba\nimport numpy as np\n@numba.njit\n"
        source = head + (RACES[name] if plain == "numba.njit" else plain)
        done = pipeline.translate(source, "k.py", Options(only=("f",)))
        assert done.raised, done.diagnostics
        agrees(done, pipeline.Request(gradients=True, shapes={"x": (6,), "y": (6,)}), name)


def test_openmp():
    loop = "#pragma omp parallel for\n    for (int i = 1; i < n; i++) y[i] = %s + x[i];"
    for cell, raised in (("x[i - 1]", True), ("y[i - 1]", False)):
        source = f"__device__ void go(float *y, const float *x, int n) {{\n    {loop % cell}\n}}\n"
        first = "if (threadIdx.x == 0 && blockIdx.x == 0) go(y, x, n);"
        source += f"__global__ void f(float *y, const float *x, int n) {{ {first} }}\n"
        done = pipeline.translate(source, "k.cu", Options(only=("f",)))
        assert bool(done.raised) is raised, done.diagnostics
