"""Running values: prefix scans, and recurrences that are none."""

# ruff: noqa: E501 - kernels on one line

import pytest

from kraise.ir.equations import Read, Scan
from kraise.ir.walk import statement_expressions, topological
from tests.raising.agree import agree, kinds, text


def scans(kernel):
    nodes = topological([e for s in kernel.body for e in statement_expressions(s)])
    return [n for n in nodes if isinstance(n, Scan)]


LOOP = "def f(x, w, y):\n a = 1.0\n for i in {}:\n  {}\n return a + w[0]"
UP, DOWN = "range(len(x))", "range(len(x) - 1, -1, -1)"
TAKES = {
    "after": "a += x[i]\n  y[i] = a",
    "before": "y[i] = a\n  a += x[i]",
    "both": "y[i] = a\n  a += x[i]\n  y[i] += a * w[i]",
    "product": "a *= x[i]\n  y[i] = a",
    "max": "a = max(a, x[i])\n  y[i] = a",
    "min, written out": "if x[i] < a: a = x[i]\n  y[i] = a",
    "masked": "if w[i] > 0: a += x[i]\n  y[i] = a",
    "of a scan": "a += x[i]\n  y[i] = a\n  y[i] = y[i] * 2",
}


@pytest.mark.parametrize("name", TAKES)
@pytest.mark.parametrize("range_", [UP, DOWN])
def test_takes(name, range_):
    assert kinds(agree(LOOP.format(range_, TAKES[name]))) == {"Scan", "Reduce"}


DECLINES = {
    "reset": "a += 1\n  if x[i] < 0: a = 0.0\n  y[i] = a",
    "saturating": "a = max(a + x[i], 0.0)\n  y[i] = a",
    "guarded by itself": "if a < 2: a += x[i]\n  y[i] = a",
    "previous value": "y[i] = x[i] - a\n  a = x[i] - 2 * a",
    "min and max": "a = max(a, x[i])\n  a = min(a, w[i])\n  y[i] = a",
}


@pytest.mark.parametrize("name", DECLINES)
def test_declines(name):
    assert "Scan" not in kinds(agree(LOOP.format(UP, DECLINES[name])))


RUNNING = (
    "def f(A, B):\n for i in range(len(A)):\n  a = 1.0\n  t = 0.0\n  for j in range(len(A)):\n   {}\n  B[i, 0] = t"
)


@pytest.mark.parametrize("body", ["a *= A[i, j]\n   t += a", "t = max(t, a)\n   a += A[i, j]"])
def test_running_values_that_are_only_summed_up_are_no_scan(body):
    assert kinds(agree(RUNNING.format(body))) == {"Fold"}


@pytest.mark.parametrize("body", ["a *= A[i, j]\n   t += a\n   B[i, j] = a", "a *= A[0, j]\n   t += a"])
def test_running_values_that_are_stored_or_of_one_lane_are_a_scan(body):
    assert "Scan" in kinds(agree(RUNNING.format(body)))


def test_a_step_of_two_is_no_scan():
    agree(LOOP.format("range(0, len(x), 2)", TAKES["after"]))


def test_rows_of_different_length():
    agree(
        "def f(A, B):\n for i in range(len(A)):\n  a = 0.0\n  for j in range(i + 1):\n   a += A[i, j]\n   B[i, j] = a"
    )


def test_a_sum_of_a_running_sum():
    kernel = agree(
        "def f(x, y):\n a = 0.0\n b = 0.0\n for i in range(len(x)):\n  a += x[i]\n  b += a\n  y[i] = b\n return a, b"
    )
    assert "Fold" not in kinds(kernel)


def test_value_of_the_last_round():
    assert "Fold" not in kinds(
        agree(
            "def f(x, y):\n a = 0.0\n p = 5.0\n for i in range(len(x)):\n  p = a * 2\n  a += x[i]\n  y[i] = p\n return p, a"
        )
    )


def test_scatter_of_a_running_sum():
    assert "cumsum" in text(
        agree("def f(x, y, k):\n a = 0.0\n for i in range(len(x)):\n  a += x[i]\n  y[k[i]] += a\n return a")
    )


def test_fibonacci_stays():
    assert "Fold" in kinds(
        agree("def f(y):\n a = 0.0\n b = 1.0\n for i in range(len(y)):\n  y[i] = a\n  a, b = b, a + b\n return a, b")
    )


def test_recurrence_over_an_array():
    agree("def f(y, x, n):\n for i in range(1, n):\n  y[i] = y[i - 1] * x[i] + y[i]")
    agree("def f(y, x, n):\n for i in range(n - 2, -1, -1):\n  y[i] = (y[i + 1] - x[i]) * x[i]")
    agree("def f(y, n):\n for i in range(2, n):\n  y[i] = y[i - 1] + y[i - 2]")


@pytest.mark.parametrize("op", ["a = max(a, x[i])", "a = min(a, x[i])"])
@pytest.mark.parametrize("range_", ["range(len(x))", "range(1, len(x))", "range(len(x) - 1, -1, -1)"])
def test_a_start_that_is_the_first_term_is_not_combined_once_more(range_, op):
    first = "len(x) - 1" if "-1, -1" in range_ else "0"
    kernel = agree(f"def f(x, y):\n a = x[{first}]\n for i in {range_}:\n  {op}\n  y[i] = a\n return a")
    assert {s.init.value for s in scans(kernel)} <= {float("inf"), float("-inf")}


def test_a_sum_of_which_the_first_term_is_the_start_begins_with_it():
    kernel = agree("def f(x, y):\n a = x[0]\n for i in range(1, len(x)):\n  a += x[i]\n  y[i] = a")
    assert [s.init.value for s in scans(kernel)] == [0]


def test_another_start_is_combined():
    kernel = agree("def f(x, y):\n a = x[1]\n for i in range(len(x)):\n  a = max(a, x[i])\n  y[i] = a")
    assert all(isinstance(s.init, Read) for s in scans(kernel))
    kernel = agree("def f(x, y):\n a = x[0]\n for i in range(len(x)):\n  a += x[i]\n  y[i] = a")
    assert all(isinstance(s.init, Read) for s in scans(kernel))
