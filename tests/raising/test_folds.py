"""Loops that stay: lanes of different length, while loops, guards inside, what is carried, arrays that are."""

# ruff: noqa: E501 - kernels on one line

import pytest

from tests.raising.agree import agree, fold, kinds

THREAD = "def f(x, y):\n i = cuda.grid(1)\n if i < len(x):\n  a = 1.0\n  {}\n  y[i] = a"
LANES = {
    "up to the lane": "for j in range(i): a = x[j] - a",
    "from the lane": "for j in range(i, len(x)): a = x[j] - a",
    "down from the lane": "for j in range(i - 1, -1, -1): a = x[j] - a",
    "a guard on data": "for j in range(3):\n   if x[i] > 0: a = a * a - x[i]",
    "a guard on the round": "for j in range(4):\n   if j > 1: a = 1 - a * 2",
    "while": "while a < x[i] + 2: a = a * 2",
    "while in while": "n = 0\n  while n < 3:\n   m = 0\n   while m < n:\n    a = a * 2 - m\n    m += 1\n   n += 1",
    "two rates": "b = 2.0\n  for j in range(3):\n   a, b = b, a * x[i]\n  a = a + b",
    "break in a lane": "for j in range(i):\n   a = x[j] - a\n   if a > 2: break",
    "swap of scalars": "b = 2.0\n  for j in range(3): a, b = b, a\n  a = a - b",
}


@pytest.mark.parametrize("name", LANES)
def test_lanes(name):
    agree(THREAD.format(LANES[name]))


def test_a_carried_scalar_has_only_the_lanes_it_depends_on():
    kernel = agree(
        "def f(x, y):\n for i in range(len(x)):\n  a = 1.0\n  for j in range(3): a = x[j] - a\n  y[i] = a", sizes=(3, 5)
    )
    assert fold(kernel).scalars[0].axes == ()
    kernel = agree("def f(x, y):\n for i in range(len(x)):\n  a = 1.0\n  for j in range(3): a = x[i] - a\n  y[i] = a")
    assert [a.name for a in fold(kernel).scalars[0].axes] == ["i"]


def test_functions_of_the_index_are_not_carried():
    kernel = agree("def f(x):\n a = 1.0\n c = 4\n for i in range(len(x)):\n  a = c - a * x[i]\n  c += 2\n return a + c")
    assert [s.name for s in fold(kernel).scalars] == ["a"]


def test_dead_scalars_are_not_carried():
    kernel = agree("def f(x):\n a = 1.0\n b = 2.0\n for i in range(len(x)):\n  b = x[i]\n  a = b - a\n return a")
    assert [s.name for s in fold(kernel).scalars] == ["a"]


ARRAYS = {
    "stores under lanes' masks": "def f(x, y):\n i = cuda.grid(1)\n if i < len(x):\n  a = x[i]\n  c = 0\n  while a < 3 and c < 4:\n"
    "   a = a * 2 + 1\n   c += 1\n   y[i] = a\n  y[i] += c",
    "a triangle of stores": "def f(x, A):\n i = cuda.grid(1)\n if i < len(x):\n  a = 1.0\n  for j in range(i):\n   a = x[j] - a\n"
    "   A[i, j] = a",
    "read after write in the round": "def f(x, y, k):\n for i in range(len(x)):\n  y[k[i]] = x[i]\n  x[i] = y[i] + 1",
    "two arrays by turns": "def f(x, y):\n for t in range(3):\n  for i in range(1, len(x)): y[i] = x[i - 1] + t\n"
    "  for i in range(1, len(x)): x[i] = y[i - 1] * 2",
    "nested folds": "def f(A, k):\n for i in range(len(A)):\n  for j in range(1, len(A)):\n   A[i, j] = A[i, j - 1] + A[k[i], j]",
    "a scatter in a time loop": "def f(x, y, k):\n for t in range(2):\n  for i in range(len(x)): y[k[i]] = x[i] + t\n"
    "  for i in range(len(x)): x[i] = y[i]",
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name):
    assert "Fold" in kinds(agree(ARRAYS[name]))


def test_rounds_that_depend_on_data_end_with_the_longest_lane():
    source = (
        "def f(x, y, k):\n i = cuda.grid(1)\n if i < len(x):\n  a = x[i]\n  for j in range(k[i]): a = 1 - a\n  y[i] = a"
    )
    assert fold(agree(source)).condition is not None


@pytest.mark.parametrize("guard", ["i == 0", "cuda.threadIdx.x == 0 and cuda.blockIdx.x == 0"])
def test_the_only_thread_stores_in_each_round(guard):
    body = "a = a / (1.0 + x[k] * x[k]) if a > 1 else a + x[k]\n   y[k] = a"
    agree(f"def f(x, y, n):\n i = cuda.grid(1)\n if {guard}:\n  a = 0.0\n  for k in range(n):\n   {body}")


def test_a_sum_of_what_a_loop_makes_of_each_element():
    inner = "for j in range(3): t = t * 0.5 + x[i]"
    agree(THREAD.format(f"for m in range(len(x)):\n   t = x[m]\n   {inner}\n   a += t"))


# a row of B in each round, whose cells a carried row (x) gives
ROW = "def f(A, B, x, m):\n for t in range(len(A)):\n  for j in range(len(x)):\n   if A[t, j] > 1: x[j] = A[t, j]\n  {}"
STACKED = {
    "the whole row": "for j in range(len(x)): B[t, j] = x[j]",
    "a part of it": "for j in range(1, m): B[t, j] = x[j] + t",
    "an accumulation": "for j in range(m): B[t, j] += x[j]",
    "a column": "for j in range(len(x)): B[j, t] = x[j] * x[0]",
    "what was there": "for j in range(m): B[t, j] = x[j] - 2 * B[t, j]",
}
NOT_STACKED = {
    "as much as the round": "for j in range(t): B[t, j] = x[j]",
    "where data say so": "for j in range(len(x)):\n   if x[j] > 0: B[t, j] = x[j]",
    "the row before is read": "for j in range(len(x)): B[t, j] = x[j]\n  for j in range(len(x)): x[j] = B[max(t - 1, 0), j] + 1",
    "more of it is read again": "for j in range(m): B[t, j] = x[j]\n  for j in range(len(x)): x[j] = 1 - B[t, j]",
    "cells that rounds share": "for j in range(len(x)): B[0, (t + j) // 2] = x[0] + j\n  for j in range(2): B[max(t - j, 0), 0] = x[j]",
    "one row for all": "for j in range(len(x)): B[0, j] = x[j] - B[0, j]",
}


@pytest.mark.parametrize("body", STACKED.values(), ids=STACKED)
def test_rows_are_stacked(body):
    assert [o.name for o in fold(agree(ROW.format(body))).outputs] == ["$B.out"]


@pytest.mark.parametrize("body", NOT_STACKED.values(), ids=NOT_STACKED)
def test_rows_that_are_not_stacked(body):
    assert not fold(agree(ROW.format(body))).outputs
