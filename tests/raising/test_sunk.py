"""Stores that both arms of a branch end with are one store, where the rounds of a loop follow one another."""

# ruff: noqa: E501 - kernels on one line

import pytest

from kraise.ir import equations as eq
from tests.raising.agree import agree

NEST = "def f(A, x, y):\n for i in range(1, len(x)):\n  for j in range(1, len(x)):\n   "
SUNK = {
    "two arms": "if x[i] == y[j]: A[i, j] = A[i - 1, j - 1] + 1\n   else: A[i, j] = max(A[i - 1, j], A[i, j - 1])",
    "three arms": "if x[i] > y[j]: A[i, j] = A[i - 1, j - 1]\n   elif x[i] < y[j]: A[i, j] = A[i, j - 1] + 1\n   else: A[i, j] = A[i - 1, j]",
    "with locals": "if x[i] > y[j]:\n    t = A[i, j - 1] * 2\n    A[i, j] = t - 1\n   else:\n    t = A[i - 1, j]\n    A[i, j] = t + x[i]",
}


def carried(kernel):
    """The arrays that a loop within a loop carries."""
    outer = [s for s in kernel.body if isinstance(s, eq.Fold)]
    return [c for s in outer for inner in s.body if isinstance(inner, eq.Fold) for c in inner.arrays]


@pytest.mark.parametrize("name", SUNK)
def test_one_store(name):
    assert not carried(agree(NEST + SUNK[name]))


OTHER = {
    "other cells": "if x[i] > y[j]: A[i, j] = A[i - 1, j - 1] + 1\n   else: A[i, j - 1] = A[i - 1, j]",
    "one arm": "if x[i] > y[j]: A[i, j] = A[i, j - 1] + 1",
    "the subscript is set": "k = j\n   if x[i] > y[j]:\n    k = j - 1\n    A[i, k] = A[i, j] + 1\n   else: A[i, k] = A[i - 1, j]",
}


@pytest.mark.parametrize("name", OTHER)
def test_other(name):
    agree(NEST + OTHER[name])


def test_arms_that_bound_an_index_stay_slices():
    kernel = agree("def f(x, y):\n for i in range(len(x)):\n  if i == 0: y[i] = x[i]\n  else: y[i] = x[i - 1] * 2")
    assert len(kernel.body) == 2
