"""Cells of scratch arrays that are stored once are the values that they hold; other cells stay."""

import pytest

from kraise.ir import equations as eq
from tests.raising.agree import agree, statements

HEAD = """
def f(x, y, n):
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    s = cuda.shared.array(2, 'float64')
"""
VALUES = {
    "one cell": "    if t == 0:\n        s[0] = 0.0\n"
    "    cuda.syncthreads()\n    if i < n:\n        cuda.atomic.add(s, 0, x[i])\n"
    "    cuda.syncthreads()\n    if i < n:\n        y[i] = x[i] - s[0]\n",
    "two cells": "    if t == 0:\n        s[0] = 0.0\n        s[1] = 0.0\n"
    "    cuda.syncthreads()\n    if i < n:\n        cuda.atomic.add(s, 0, x[i])\n        cuda.atomic.max(s, 1, x[i])\n"
    "    cuda.syncthreads()\n    if i < n:\n        y[i] = x[i] * s[1] - s[0]\n",
    "one from the other": "    if t == 0:\n        s[0] = 0.0\n"
    "    cuda.syncthreads()\n    if i < n:\n        cuda.atomic.add(s, 0, x[i])\n"
    "    cuda.syncthreads()\n    if t == 0:\n        s[1] = s[0] * s[0] + 1.0\n"
    "    cuda.syncthreads()\n    if i < n:\n        y[i] = x[i] / s[1]\n",
    "by all threads": "    if t == 0:\n        s[1] = 0.0\n"
    "    c = cuda.syncthreads_count(i < n and v[i] > 0)\n    if i < n:\n        y[i] = x[i] * c\n",
}
KEPT = {
    "a number that is none": "    if t < 2:\n        s[t] = 0.0\n"
    "    cuda.syncthreads()\n    if i < n:\n        cuda.atomic.add(s, v[i] & 1, x[i])\n"
    "    cuda.syncthreads()\n    if i < n:\n        y[i] = s[i & 1]\n",
    "carried": "    if t == 0:\n        s[0] = 1.0\n    cuda.syncthreads()\n    for r in range(3):\n"
    "        if i < n:\n            y[i] += s[0] * x[i]\n        cuda.syncthreads()\n"
    "        if t == 0:\n            s[0] = s[0] * 0.5 + s[0] * s[0]\n        cuda.syncthreads()\n",
}


def made(source):
    """The arrays that the kernel makes, with their axes: those of the block and their own."""
    head = HEAD.replace("y, n", "y, v, n") if "v[" in source else HEAD
    return {s.version.array: len(s.shape) for s in statements(agree(head + source).body) if isinstance(s, eq.New)}


@pytest.mark.parametrize("name", VALUES)
def test_cells_that_are_stored_once_have_the_axes_of_the_block_alone(name):
    """Where the type is that of the array, there is none: ``x`` may be of any."""
    assert 2 not in made(VALUES[name]).values() and ("x[i])" in VALUES[name] or not made(VALUES[name]))


@pytest.mark.parametrize("name", KEPT)
def test_cells_that_change_stay(name):
    assert made(KEPT[name])
