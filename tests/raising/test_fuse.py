"""Writes of the same cells in a row that are one, and those that may not be."""

# ruff: noqa: E501 - kernels on one line

import pytest

from kraise.ir import equations as eq
from tests.raising.agree import agree, statements


def writes(kernel):
    return len([s for s in statements(kernel.body) if isinstance(s, eq.Write)])


ONE = {
    "two names of the index": "def f(x, y):\n for i in range(len(x)):\n  y[i] += x[i]\n for j in range(len(x)):\n  y[j] = y[j] * 2",
    "the same mask": "def f(x, y):\n for i in range(len(x)):\n  if x[i] > 0:\n   y[i] = y[i] + 1\n   y[i] = y[i] * 2",
}


@pytest.mark.parametrize("name", ONE)
def test_one(name):
    assert writes(agree(ONE[name])) == 1


TWO = {
    "another range": "def f(x, y):\n for i in range(len(x)):\n  y[i] += x[i]\n for i in range(1, len(x)):\n  y[i] = y[i] * 2",
    "a neighbour is read": "def f(x, y):\n for i in range(len(x) - 1):\n  y[i] = x[i]\n for i in range(len(x) - 1):\n  y[i] = y[i] + y[i + 1]",
    "another mask": "def f(x, y):\n for i in range(len(x)):\n  if x[i] > 0: y[i] = 1.0\n  if x[i] > 1: y[i] = y[i] * 2",
    "the mask reads it": "def f(x, y):\n for i in range(len(x)):\n  y[i] += x[i]\n  if y[i] > 1: y[i] = -y[i]",
    "someone else reads it": "def f(x, y, w):\n for i in range(len(x)):\n  y[i] += x[i]\n for i in range(len(x)):\n  w[i] = y[0]\n"
    " for i in range(len(x)):\n  y[i] = y[i] * 2",
    "the transpose": "def f(A):\n for i in range(len(A)):\n  for j in range(len(A)):\n   A[i, j] += 1\n for i in range(len(A)):\n"
    "  for j in range(i):\n   A[i, j] = A[j, i]",
    "scattered": "def f(x, y, k):\n for i in range(len(x)):\n  y[k[i]] += x[i]\n for i in range(len(x)):\n  y[i] = y[i] * 2",
    "max after sum": "def f(x, y, k):\n for i in range(len(x)):\n  y[k[i]] += x[i]\n for i in range(len(x)):\n"
    "  y[k[i]] = max(y[k[i]], x[i])",
}


@pytest.mark.parametrize("name", TWO)
def test_more(name):
    assert writes(agree(TWO[name])) > 1


ARMS = "def f(x, {2}, n):\n i = cuda.grid(1)\n if i < n:\n  if x[i] > 0:\n   {0}\n  else:\n   {1}"
SIDE_BY_SIDE = {
    "cells of a row": ("h[2 * i] = x[i]; h[2 * i + 1] = 1.0", "h[2 * i] = 2.0; h[2 * i + 1] = x[i]"),
    "columns": ("A[i, 0] = x[i]; A[i, 1] = 1.0", "A[i, 0] = 2.0; A[i, 1] = x[i]"),
    "in another order": ("h[2 * i] = x[i]; h[2 * i + 1] = 1.0", "h[2 * i + 1] = 2.0; h[2 * i] = x[i]"),
    "cells that were there": (
        "h[2 * i] = 1.0; h[2 * i + 1] = 3 - h[2 * i + 1]",
        "h[2 * i] = 2 - h[2 * i]; h[2 * i + 1] = 4.0",
    ),
}
STAY = {
    "columns that a size tells apart": ("A[i, 0] = x[i]; A[i, n - 1] = 1.0", "A[i, 0] = 2.0; A[i, n - 1] = x[i]"),
    "another condition": (
        "h[2 * i] = x[i]; h[2 * i + 1] = 1.0\n  if x[i] > 1:\n   h[2 * i] = 4.0",
        "h[2 * i + 1] = x[i]",
    ),
}


@pytest.mark.parametrize("arms", SIDE_BY_SIDE.values(), ids=SIDE_BY_SIDE)
def test_arms_that_store_to_the_same_cells(arms):
    assert writes(agree(ARMS.format(*arms, arms[0][0]), sizes=(2, 3))) == 2


@pytest.mark.parametrize("arms", STAY.values(), ids=STAY)
def test_arms_that_stay_apart(arms):
    assert writes(agree(ARMS.format(*arms, arms[0][0]), sizes=(1, 2, 3))) > 2
