"""While loops over powers of two, and those that are none."""

# ruff: noqa: E501 - kernels on one line

import pytest

from kraise.ir import equations as eq
from tests.raising.agree import agree, kinds, statements

HEAD = "def f(x, y, n):\n for i in range(n):\n  a = 0.0\n  "
LOOPS = {
    "doubled": "w = 1\n  while w < n:\n   a = a * 2 + x[w]\n   w *= 2",
    "shifted": "w = 1\n  while w <= n - 1:\n   a = a * 2 + x[w]\n   w <<= 1",
    "added to itself": "w = 1\n  while n > w:\n   a = a * 2 + x[w]\n   w = w + w",
    "by four": "w = 1\n  while w < n:\n   a = a * 2 + x[w]\n   w *= 4",
    "from three": "w = 3\n  while w < n:\n   a = a * 2 + x[w]\n   w *= 2",
    "halved": "w = n // 2\n  while w > 0:\n   a = a * 2 + x[w]\n   w //= 2",
    "halved to one": "w = n - 1\n  while w >= 2:\n   a = a * 2 + x[w]\n   w >>= 1",
    "by a half, from below zero": "w = n - 3\n  while w > 0:\n   a = a * 2 + x[w]\n   w //= 2",
    "with an exit": "w = 1\n  while w < n:\n   a = a * 2 + x[w]\n   if a > 3: break\n   w *= 2",
    "with another condition": "w = 1\n  while w < n and a < 3:\n   a = a * 2 + x[w]\n   w *= 2",
    "moved first": "w = n\n  while w > 1:\n   w //= 2\n   a = a * 2 + x[w]",
}


@pytest.mark.parametrize("name", LOOPS)
def test_rounds_are_known(name):
    kernel = agree(HEAD + LOOPS[name] + "\n  y[i] = a + w", sizes=(0, 1, 2, 3, 4, 5, 7, 8, 9))
    folds = [s for s in statements(kernel.body) if isinstance(s, eq.Fold)]
    assert len(folds) == 1 and folds[0].axis is not None


OTHER = {
    "by three": "w = 1\n  while w < n:\n   a = a * 2 + x[w]\n   w *= 3",
    "under a condition": "w = 1\n  while w < n:\n   a = a * 2 + x[w]\n   if x[w] > 0: w *= 2\n   else: w += 1",
    "not a power of two": "w = n\n  while w > 3:\n   a = a * 2 + x[0]\n   w //= 2",
    "the bound moves": "w = 1\n  m = n\n  while w < m:\n   a = a * 2 + x[0]\n   w *= 2\n   m -= 1",
}


@pytest.mark.parametrize("name", OTHER)
def test_other(name):
    agree(HEAD + OTHER[name] + "\n  y[i] = a + w", sizes=(0, 1, 2, 3, 5, 8))


def test_a_sum_over_powers_of_two_is_no_loop():
    kernel = agree(
        "def f(x, y, n):\n for i in range(n):\n  w = 1\n  while w < n:\n   if i >= w: y[i] += x[i - w]\n   w *= 2"
    )
    assert "Fold" not in kinds(kernel)
