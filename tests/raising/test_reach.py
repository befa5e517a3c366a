"""Loops whose bounds differ from lane to lane within what sizes say: chequerboards, offsets, choices."""

# ruff: noqa: E501 - kernels on one line

import pytest

from tests.raising.agree import agree, kinds, refusal, text

SUM = "def f(A, y, v, n):\n i = cuda.grid(1)\n if i < n:\n  s = 0.0\n  for j in range({range}):\n   s += A[i, j]\n  y[i] = s + v[i]"
RANGES = (
    "i % 2, n, 2",
    "(i + n) % 2, n, 2",
    "1 + (i + 1) % 3, n, 3",
    "2 - i % 3, n, 3",
    "i & 1, n, 2",
    "1 - (i & 1), n, 2",
    "3 - (3 & i), n, 4",
    "i % 3, n, 2",  # the remainder of another number
    "i % 2, n",
    "0, n - i % 2",
    "0, n if i > 1 else n // 2",
    "(0 if i > 1 else 1), n, 2",
    "0, n if v[i] > 0 else n // 2",
    "0, min(n, v[i])",
    "n - 1, i % 2, -1",
    "n - 1 - i % 2, -1, -2",
)


@pytest.mark.parametrize("range_", RANGES)
def test_sums(range_):
    assert "Fold" not in kinds(agree(SUM.format(range=range_)))


def test_a_chequerboard_is_written_without_a_loop():
    kernel = agree("def f(A, n):\n for i in range(1, n - 1):\n  for j in range(1 + i % 2, n - 1, 2):\n"
                   "   A[i, j] = A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1]", sizes=(2, 3, 5, 6))  # fmt: skip
    assert "Fold" not in kinds(kernel)
    assert text(kernel).endswith("for 1 <= i < n - 1, 1 <= j < n - 1, where (j + 1 - i) % 2 == 0")


def test_neighbours_of_the_same_colour_are_no_chequerboard():
    """A step of two cells within a row is a dependence: what the round before stored is read."""
    kernel = agree("def f(A, n):\n for i in range(n):\n  for j in range(2 + i % 2, n, 2):\n   A[i, j] += A[i, j - 2]",
                   sizes=(2, 3, 5, 6))  # fmt: skip
    assert kinds(kernel) & {"Scan", "Fold"}


def test_a_chequerboard_of_threads_that_meet_is_refused():
    assert refusal("def f(A, n):\n i = cuda.grid(1)\n if 0 < i < n - 1:\n  for j in range(1 + i % 2, n - 1, 2):\n"
                   "   A[i, j] = A[i - 1, j] + A[i - 1, j - 1]") == "KR201"  # fmt: skip
