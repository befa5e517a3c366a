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
    "with a continue": "i = 0\n while i < len(x):\n  if x[i] > 0:\n   y[i] = 1\n   i += 1\n   continue\n  y[i] = x[i] + i\n  i += 1",
    "two bounds": "i = 0\n while i < len(x) and i < q:\n  y[i] = x[i] + i\n  i += 1",
    "a bound on a sum": "i = 0\n while i <= 3 and q + i < len(x):\n  y[i] = x[q + i] + i\n  i += 1",
    "two bounds below": "i = len(x) - 1\n while i > 1 and i >= q:\n  y[i] = x[i] + i\n  i -= 1",
    "a multiple": "i = 0\n while i * 2 < len(x):\n  y[i] = x[i] + i\n  i += 1",
    "a multiple of more": "i = -2\n while len(x) > 3 * (i + 1) + 1:\n  y[i + 2] = x[i + 2] + i\n  i += 1",
    "a multiple, down": "i = q - 3\n while i * 2 >= -5:\n  y[i + 2] = x[i + 2] + i\n  i -= 1",
    "a multiple, at most": "i = 0\n while i * 3 <= q:\n  y[i] = x[i] + i\n  i += 1",
    "no round": "i = len(x) + 4\n while i < len(x):\n  y[i] = x[i]\n  i += 2",
}


@pytest.mark.parametrize("name", COUNTED)
def test_counted(name):
    kernel = agree("def f(x, y, q):\n " + COUNTED[name] + "\n return i + q")
    assert "Fold" not in kinds(kernel)


OTHER = {
    "the bound moves": "i = 0\n n = len(x)\n while i < n:\n  a = a - x[i]\n  n -= 1\n  i += 1",
    "the step is not last": "i = 0\n while i < len(x):\n  i += 1\n  a = a + x[i - 1]",
    "other steps before a continue": "i = 0\n while i < len(x):\n  if x[i] > 0:\n   i += 2\n   continue\n  a = a + x[i]\n  i += 1",
    "stepped twice": "i = 0\n while i < len(x):\n  if x[i] > 0: i += 1\n  a = a * 2\n  i += 1",
    "stepped under a condition": "i = 0\n while i < 3 and a < 9:\n  a = a + x[0]\n  if a > 1: i += 1\n  a += 3",
    "a multiple of itself": "i = 1\n while i * i < len(x):\n  a = x[i] - a\n  i += 1",
    "a negative multiple": "i = 0\n while i * -2 > -5:\n  a = x[0] - a\n  i += 1",
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


def test_a_bound_that_is_loaded_is_no_bound_of_the_range():
    assert "Fold" in kinds(
        raised("def f(x, m):\n i = 0\n while i < len(x) and i < m[i]:\n  x[i] = 1\n  i += 1\n return i")
    )


def test_do_while_runs_once():
    agree("def f(x):\n i = 0\n a = 0.0\n while True:\n  a += 1\n  i += 1\n  if i >= len(x): break\n return a")


MORE = {  # counted, with other exits, in other places
    "two counters": "i = 0\n j = len(x) - 1\n while i < j:\n  a += x[i] * x[j]\n  i += 1\n  j -= 1",
    "two counters, by two": "i = 0\n j = len(x)\n while i < j:\n  a += x[i]\n  i += 2\n  j -= 1",
    "not equal to the end": "i = 0\n while i != len(x):\n  a += x[i]\n  i += 1",
    "the step first": "i = 0\n while i < len(x):\n  i += 1\n  a += x[i - 1]",
    "tested before the step": "i = len(x)\n while True:\n  t = i > 0\n  i -= 1\n  if not t: break\n  a += x[i]",
    "do while": "i = 0\n while True:\n  a += w[0]\n  i += 1\n  if not (i < len(x)): break",
}


@pytest.mark.parametrize("name", MORE)
def test_more_that_counts(name):
    kernel = agree("def f(x, w):\n a = 0.0\n " + MORE[name] + "\n return a + i + w[0]")
    assert "Fold" not in kinds(kernel) or name == "do while"


BOUNDED = {  # other exits: a loop to the static bound
    "a condition beside": "c = 0\n while c < 5 and a < 3:\n  a = a * 2 + 1\n  c += 1",
    "a break": "c = 0\n while c < 5:\n  if a > 3: break\n  a = a * 2 + 1\n  c += 1",
    "a break at a count": "c = 0\n while True:\n  a = a * 2 + 1\n  c += 1\n  if a > 3: break\n  if c == 6: break",
    "steps of one or two": "c = 0\n while c < 7:\n  a = a * 2 + 1\n  if a > 9: c += 1\n  c += 1",
    "downwards": "c = 6\n while c > 0 and a < 30:\n  a = a + 1\n  c -= 1",
}


@pytest.mark.parametrize("name", BOUNDED)
def test_a_static_bound(name):
    source = "def f(x, y):\n i = cuda.grid(1)\n if i < len(x):\n  a = x[i]\n  "
    assert fold(agree(source + BOUNDED[name].replace("\n ", "\n  ") + "\n  y[i] = a + c")).condition is None


UNBOUNDED = {  # what moves may stand still, or is not bounded by sizes
    "it may stand still": "c = 0\n while c < 5:\n  a = a * 2 + 1\n  if a > 3: c += 1",
    "it may go back": "c = 0\n while c < 5:\n  a = a * 2 + 1\n  if a > 3: c += 1\n  else: c -= 1\n  if a > 90: break",
    "the count is passed": "c = 7\n while True:\n  a = a * 2 + 1\n  c += 1\n  if a > 3: break\n  if c == 6: break",
    "it jumps over": "c = 0\n while True:\n  a = a * 2 + 1\n  c += 2\n  if a > 3: break\n  if c == 5: break",
}


@pytest.mark.parametrize("name", UNBOUNDED)
def test_no_static_bound(name):
    source = "def f(x, y):\n i = cuda.grid(1)\n if i < len(x):\n  a = abs(x[i])\n  "
    assert fold(agree(source + UNBOUNDED[name].replace("\n ", "\n  ") + "\n  y[i] = a + c")).condition is not None


def test_pointers_and_counters_that_walk_along():
    kernel = agree(
        "def f(x, y):\n p = 1\n q = len(x)\n for k in range(len(x) - 1):\n  p += 1\n  q -= 1\n  y[q] = x[p - 1]\n"
    )
    assert "Fold" not in kinds(kernel)
