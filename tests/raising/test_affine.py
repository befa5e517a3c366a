"""Carried scalars that are functions of the index."""

import pytest

from tests.raising.agree import agree, kinds, text

LOOP = "def f(x, y, q):\n c = 5\n for i in {}:\n  {}\n return c + q"
RANGES = [
    "range(len(x))",
    "range(q, len(x))",
    "range(len(x) - 1, -1, -1)",
    "range(len(x) - 1, -1, -2)",
    "range(1, len(x), 3)",
]


@pytest.mark.parametrize("range_", RANGES)
@pytest.mark.parametrize("body", ["c += 3\n  y[i] = c", "y[i] = c\n  c -= 2", "y[i] = c\n  c += 2 * i - 1"])
def test_takes(range_, body):
    assert kinds(agree(LOOP.format(range_, body))) == set()


@pytest.mark.parametrize("body", ["y[i] = c\n  if x[i] > 0: c += 1", "y[i] = c\n  c = c * 2", "y[i] = c\n  c += i * i"])
def test_declines(body):
    assert kinds(agree(LOOP.format(RANGES[0], body))) != set()


def test_a_step_that_is_a_parameter():
    assert kinds(agree(LOOP.format(RANGES[1], "c += q\n  y[i] = c\n  c += 1"))) == set()


def test_a_packing_counter_is_a_running_count():
    packed = "def f(x, y):\n c = 0\n for i in range(len(x)):\n  if x[i] > 0:\n   y[c] = x[i]\n   c += 1\n return c"
    assert "Fold" not in kinds(agree(packed))
    written_again = packed.replace("  if x[i] > 0:\n   y[c] = x[i]\n", "  y[c] = x[i]\n  if x[i] > 0:\n")
    assert "Fold" in kinds(agree(written_again))


def test_counters_of_nests():
    agree(
        "def f(A, h):\n c = 0\n for i in range(2):\n  for j in range(len(A)):\n   h[c] = A[j, j]\n   c += 1\n return c"
    )
    agree("def f(A, h):\n c = 0\n for i in range(2):\n  for j in range(i):\n   h[c] = A[i, j]\n   c += 1\n return c")


def test_floats_are_not_counted():
    agree("def f(x, y):\n c = 0.5\n for i in range(len(x)):\n  c += 0.25\n  y[i] = c\n return c")


def test_unchanged():
    assert "Fold" not in kinds(
        agree("def f(x, y):\n c = 5\n for i in range(len(x)):\n  if x[i] > 0: c = c + 0\n  y[i] = c\n return c")
    )


def test_closed_form():
    assert "2 * i" in text(agree("def f(y):\n c = 0\n for i in range(len(y)):\n  y[i] = c\n  c += 2"))


STORED = """
def f(z, y):
    i = cuda.grid(1)
    if i < len(z):
        w = cuda.local.array(5, "int64")
        for t in range(5):
            w[t] = t
        a = 1
        for j in range(4):
            for t in range(4):
                a += w[min(t, 3)]
            if a > 9:
                w[1] += j
        y[i] = a
"""


def test_what_the_rounds_store_is_no_step():
    """A sum over a local array that the same rounds add to: not the same amount in each."""
    agree(STORED)


SOUGHT = """
def f(A, y):
    for i in range(len(A)):
        s = 0
        for j in range(3):
            c = 0
            while c < len(A) and A[i, c] > s:
                c += 1
            s += c
        y[i] = s
"""


def test_what_an_inner_loop_makes_of_it_is_no_step():
    """How far the inner loop comes depends on the number itself."""
    agree(SOUGHT)
