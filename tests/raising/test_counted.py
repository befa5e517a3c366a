"""While loops that count, and those that do not."""

# ruff: noqa: E501 - kernels on one line

import pytest

from tests.raising.agree import agree, fold, kinds, raised

COUNTED = {
    "up": "i = 0\n while i < len(x):\n  y[i] = x[i] + i\n  i += 1",
    "up by two": "i = 0\n while i < len(x):\n  y[i] = x[i] + i\n  i += 2",
    "down": "i = len(x) - 1\n while i >= 0:\n  y[i] = x[i] + i\n  i -= 1",
    "down by two": "i = len(x) - 1\n while i >= 0:\n  y[i] = x[i] + i\n  i -= 2",
    "less or equal": "i = q\n while i <= len(x) - 1:\n  y[i] = x[i] + i\n  i += 3",
    "greater": "i = q\n while i > 0:\n  y[i - 1] = x[i - 1] + i\n  i -= 3",
    "turned": "i = 0\n while len(x) > i:\n  y[i] = x[i]\n  i = 1 + i",
    "no round": "i = len(x) + 4\n while i < len(x):\n  y[i] = x[i]\n  i += 2",
}


@pytest.mark.parametrize("name", COUNTED)
def test_counted(name):
    kernel = agree("def f(x, y, q):\n " + COUNTED[name] + "\n return i + q")
    assert "Fold" not in kinds(kernel)


OTHER = {
    "the bound moves": "i = 0\n n = len(x)\n while i < n:\n  a = a - x[i]\n  n -= 1\n  i += 1",
    "the step is not last": "i = 0\n while i < len(x):\n  i += 1\n  a = a + x[i - 1]",
    "stepped twice": "i = 0\n while i < len(x):\n  if x[i] > 0: i += 1\n  a = a * 2\n  i += 1",
    "stepped under a condition": "i = 0\n while i < 3 and a < 9:\n  a = a + x[0]\n  if a > 1: i += 1\n  a += 3",
    "not equal": "i = 0\n while i != len(x):\n  a = x[i] - a\n  i += 1",
    "the other way": "i = 3\n while i > 0 and a < 5:\n  a = a + 1 + x[0] * 0\n  i -= 1",
}


@pytest.mark.parametrize("name", OTHER)
def test_other(name):
    agree("def f(x, w):\n a = 0.0\n " + OTHER[name] + "\n return a + i + w[0]")


def test_a_bound_beside_a_condition_bounds_the_rounds():
    source = "def f(x, y):\n i = cuda.grid(1)\n if i < len(x):\n  a = x[i]\n  c = 0\n  while a < 3 and c < {}:\n   a = a * 2 + 1\n"
    source += "   c += {}\n  y[i] = a + c"
    assert fold(agree(source.format(4, 1))).condition is None
    assert fold(agree(source.format(4, 3))).condition is None
    assert fold(agree(source.format(4, 1).replace("c += 1", "c += 2 - 1"))).condition is None
    assert fold(raised(source.format("9 - a", 1))).condition is not None


def test_do_while_runs_once():
    agree("def f(x):\n i = 0\n a = 0.0\n while True:\n  a += 1\n  i += 1\n  if i >= len(x): break\n return a")
