"""Nests along their diagonals, and those that are none."""

# ruff: noqa: E501 - kernels on one line

import pytest

from kraise.ir import equations as eq
from tests.raising.agree import agree, statements

HEAD = "def f(A, …):\n for i in range(1, len(A)):\n  for j in range(1, len(A)):\n   "
FRONTS = {
    "three neighbours": HEAD + "A[i, j] = max(A[i - 1, j - 1] + x[i] * y[j], A[i - 1, j], A[i, j - 1])",
    "two arms": HEAD
    + "if x[i - 1] == y[j - 1]: A[i, j] = A[i - 1, j - 1] + 1\n   else: A[i, j] = max(A[i - 1, j], A[i, j - 1])",
    "a local": HEAD + "t = B[i, j] - 1\n   t = max(t, A[i - 1, j])\n   A[i, j] = t + A[i, j - 1]",
    "two arrays": HEAD
    + "A[i, j] = A[i, j - 1] + B[i - 1, j]\n   B[i, j] = max(B[i, j - 1], A[i, j]) - A[i - 1, j - 1]",
    "old cells": "def f(A, x):\n for i in range(1, len(x) - 1):\n  for j in range(1, len(x) - 1):\n   A[i, j] = A[i - 1, j] + A[i + 1, j] - A[i, j - 1] + A[i, j + 1] * 2",
    "steeper": "def f(A, x):\n for i in range(1, len(x)):\n  for j in range(1, len(x) - 1):\n   A[i, j] = A[i - 1, j + 1] + A[i, j - 1] - A[i, j]",
    "two back": "def f(A, x):\n for i in range(2, len(x)):\n  for j in range(1, len(x)):\n   A[i, j] = A[i - 2, j] - A[i, j - 1] * x[i]",
    "backwards": "def f(A, B, x):\n for i in range(len(x) - 2, -1, -1):\n  for j in range(len(x) - 2, -1, -1):\n   A[i, j] = B[i, j] + min(A[i + 1, j], A[i, j + 1])",
    "guarded": "def f(A, B, x):\n for i in range(len(x)):\n  for j in range(len(x)):\n   t = B[i, j]\n   if i > 0: t = t + A[i - 1, j]\n   if j > 0: t = t - A[i, j - 1]\n   A[i, j] = t",
    "transposed": HEAD + "A[j, i] = A[j - 1, i] - A[j, i - 1] + x[j]",
    "added to itself": HEAD + "A[i, j] += A[i - 1, j] - A[i, j - 1]",
    "in time": "def f(A, x, n):\n for t in range(n):\n  for i in range(1, len(x)):\n   for j in range(1, len(x)):\n    A[i, j] = A[i, j] - A[i - 1, j] + A[i, j - 1]",
    "scaled rows": "def f(A, x, y):\n for i in range(1, len(x)):\n  c = x[i] + 1\n  for j in range(1, len(x)):\n   A[i, j] = c * A[i - 1, j] - A[i, j - 1] * y[i]",
}


def filled(source):
    """The source with the parameters that its body uses."""
    return source.replace("…", ", ".join(n for n in "Bxy" if f"{n}[" in source)).replace("(A, )", "(A)")


def carried_tables(kernel):
    """The loops that carry an array of two axes."""
    folds = [s for s in statements(kernel.body) if isinstance(s, eq.Fold)]
    names = {c.outside.array for s in folds for c in s.arrays}
    return names & {"A", "B"}


@pytest.mark.parametrize("name", FRONTS)
def test_one_loop_over_the_diagonals(name):
    kernel = agree(filled(FRONTS[name]), sizes=(2, 3, 5))
    folds = [s for s in statements(kernel.body) if isinstance(s, eq.Fold)]
    assert len(folds) == 1 + (name == "in time")
    assert name == "in time" or not carried_tables(kernel)


OTHER = {
    "rows wait only": HEAD + "A[i, j] = A[i - 1, j] + A[i - 1, j - 1]",
    "columns wait only": HEAD + "A[i, j] = A[i, j - 1] + B[i, j]",
    "data decides where": "def f(A, x, k):\n for i in range(1, len(x)):\n  for j in range(1, len(x)):\n   A[i, j] = A[i - 1, j] + A[i, k[j]]",
    "a triangle": "def f(A, x):\n for i in range(1, len(x)):\n  for j in range(1, i):\n   A[i, j] = A[i - 1, j] + A[i, j - 1]",
    "too far to the right": "def f(A, x):\n for i in range(1, len(x)):\n  for j in range(1, len(x) - 4):\n   A[i, j] = A[i - 1, j + 4] + A[i, j - 1]",
    "a carried scalar": "def f(A, x):\n t = 0.0\n for i in range(1, len(x)):\n  for j in range(1, len(x)):\n   t = t + A[i - 1, j]\n   A[i, j] = A[i, j - 1] - t",
    "a sum over the row": HEAD + "t = 0.0\n   for k in range(j): t += A[i, k]\n   A[i, j] = t + A[i - 1, j]",
    "two stores": HEAD + "A[i, j] = A[i - 1, j] + A[i, j - 1]\n   A[i - 1, j - 1] = x[j]",
}


@pytest.mark.parametrize("name", OTHER)
def test_other(name):
    agree(filled(OTHER[name]), sizes=(1, 2, 3, 5, 6))
