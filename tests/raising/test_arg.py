"""Arg-reductions and last matches: strictness, direction, masks, ties, empty ranges."""

# ruff: noqa: E501 - kernels on one line

import pytest

from kraise import pipeline
from tests.checks import agrees
from tests.raising.agree import agree, kinds, text

BEST = (
    "def f(x, w, s):\n b = s\n at = -1\n for i in {range}:\n  if {test}:\n   b = x[i]\n   at = i\n return b, at, w[0]"
)
UP, DOWN, ODD = "range(len(x))", "range(len(x) - 1, -1, -1)", "range(1, len(x), 2)"

TAKES = [(r, t) for r in (UP, DOWN, ODD) for t in ("x[i] < b", "x[i] <= b", "x[i] > b", "b <= x[i]", "not x[i] >= b")]


@pytest.mark.parametrize(("range_", "test"), TAKES)
def test_ties_and_directions(range_, test):
    kernel = agree(BEST.format(range=range_, test=test))
    assert kinds(kernel) == {"Reduce", "ArgReduce"}


@pytest.mark.parametrize("test", ["w[i] > 0 and x[i] < b", "x[i] > b and i != 1", "i > 0 and w[i] < 1 and x[i] >= b"])
def test_masks(test):
    assert "ArgReduce" in kinds(agree(BEST.format(range=UP, test=test)))


DECIDED = [
    (UP, "x[i] < b or (x[i] == b and i < at)", "-1"),
    (UP, "x[i] > b or (i > at and b == x[i])", "-1"),
    (ODD, "x[i] < b or (x[i] == b and i >= at)", "0"),
    (DOWN, "x[i] < b or (x[i] == b and at > i)", "len(x)"),
    (DOWN, "x[i] < b or (x[i] == b and i > at)", "len(x)"),
]
OPEN = [(UP, "x[i] < b or (x[i] == b and i < at)", "len(x)"), (UP, "x[i] < b or (x[i] == b and i > at)", "0")]


@pytest.mark.parametrize(("range_", "test", "begins"), DECIDED)
def test_ties_that_the_direction_decides(range_, test, begins):
    kernel = agree(BEST.format(range=range_, test=test).replace("at = -1", f"at = {begins}"))
    assert kinds(kernel) == {"Reduce", "ArgReduce"}


@pytest.mark.parametrize(("range_", "test", "begins"), OPEN)
def test_a_tie_with_what_was_before_the_loop_is_no_arg_reduction(range_, test, begins):
    kernel = agree(BEST.format(range=range_, test=test).replace("at = -1", f"at = {begins}"))
    assert "ArgReduce" not in kinds(kernel)


DECLINES = {
    "another value is kept": "if x[i] < b:\n   b = w[i]\n   at = i",
    "the place is used in the test": "if x[i] > b and i - at < 2:\n   b = x[i]\n   at = i",
    "compared by the place in another array": "if x[i] > w[at]: at = i",
}


@pytest.mark.parametrize("name", DECLINES)
def test_declines(name):
    kernel = agree(
        "def f(x, w):\n b = 2.0\n at = 0\n for i in range(len(x)):\n  " + DECLINES[name] + "\n return b, at, w[0]"
    )
    assert "Fold" in kinds(kernel) and "ArgReduce" not in kinds(kernel)


def test_a_place_that_is_reset_is_the_last_match_of_two():
    kernel = agree("def f(x, w):\n b = 2.0\n at = 0\n for i in range(len(x)):\n  if x[i] > b:\n   b = x[i]\n   at = i\n"
                   "  if w[i] > 1: at = -5\n return b, at, w[0]")  # fmt: skip
    assert kinds(kernel) == {"Reduce", "Scan"}


def test_the_running_place_may_not_be_used():
    kernel = agree("def f(x, y):\n b = 9.0\n at = -1\n for i in range(len(x)):\n  if x[i] < b:\n   b = x[i]\n   at = i\n"
                   "  y[i] = at\n return b")  # fmt: skip
    assert "ArgReduce" not in kinds(kernel)


def test_the_first_element_as_the_start():
    first = "def f(x):\n b = x[0]\n at = 0\n for i in range(1, len(x)):\n  if x[i] {} b:\n   b = x[i]\n   at = i\n return b, at"
    assert text(agree(first.format(">"))) == "returns max_i(x[i]) ; returns argmax_i(x[i])"
    assert text(agree(first.format(">="))) == "returns max_i(x[i]) ; returns last_argmax_i(x[i])"


def test_other_values_kept_with_it():
    kernel = agree("def f(x, w, s):\n b = s\n c = 7.0\n for i in range(len(x)):\n  if x[i] < b:\n   b = x[i]\n   c = w[i] + i\n"
                   " return b, c")  # fmt: skip
    assert kinds(kernel) == {"Reduce", "ArgReduce"}


def test_rows():
    agree("def f(A, y, v):\n for i in range(len(A)):\n  b = 9.0\n  at = -7\n  for j in range(len(A)):\n"
          "   if j != i and A[i, j] <= b:\n    b = A[i, j]\n    at = j\n  y[i] = b\n  v[i] = at")  # fmt: skip


@pytest.mark.parametrize("relation", [">", ">=", "<"])
def test_two_loops(relation):
    agree("def f(A):\n b = 0.0\n p = 0\n q = 0\n for i in range(len(A)):\n  for j in range(len(A)):\n"
          f"   if A[i, j] {relation} b:\n    b = A[i, j]\n    p = i\n    q = j\n return b, p, q")  # fmt: skip


LAST = {
    "last": "def f(x, w):\n t = 5.0\n for i in range(len(x)):\n  if x[i] > 0: t = w[i] * i\n return t",
    "last backwards": "def f(x, w):\n t = 5.0\n for i in range(len(x) - 1, -1, -1):\n  if x[i] > 0: t = w[i] * i\n return t",
    "constant": "def f(x):\n t = 5.0\n for i in range(len(x)):\n  if x[i] > 0: t = 2.0\n return t",
    "first, by break": "def f(x):\n t = -1\n for i in range(len(x)):\n  if x[i] > 0:\n   t = i\n   break\n return t",
    "by triangle": "def f(x, y):\n for i in range(len(x)):\n  t = -1.0\n  for j in range(i):\n   if x[j] > 0: t = x[j] * j\n"
    "  y[i] = t",
}


@pytest.mark.parametrize("name", LAST)
def test_last_match(name):
    assert "Fold" not in kinds(agree(LAST[name]))


def test_two_matches_of_one_scalar_are_the_last_of_either():
    kernel = agree(
        "def f(x, w):\n t = 5.0\n for i in range(len(x)):\n  if x[i] > 0: t = 2.0\n  if w[i] > 0: t = 3.0\n return t"
    )
    assert kinds(kernel) == {"Reduce"}


ROWS = "def f(x, w, s):\n b = s\n r = -1\n c = -1\n for i in range(3):\n  for j in range(4):\n   if {test}:\n    b = x[{at}]\n    r = i\n    c = j\n return b, r, c, w[0]"


@pytest.mark.parametrize("test", ["x[i * 4 + j] < b", "x[i * 4 + j] <= b", "b < x[i * 4 + j]", "x[i * 4 + j] >= b"])
def test_a_place_of_two_loops(test):
    kernel = agree(ROWS.format(test=test, at="i * 4 + j"), sizes=(12,))
    assert kinds(kernel) == {"Reduce", "ArgReduce"}


def test_a_place_of_two_loops_that_is_kept_for_another_value():
    kernel = agree(ROWS.format(test="x[i * 4 + j] < b", at="j"), sizes=(12,))
    assert "ArgReduce" not in kinds(kernel)


@pytest.mark.parametrize(
    ("start", "range_", "one"),
    [
        ("0", UP, True),
        ("-1", UP, True),
        ("3", UP, False),
        ("9", "range(3, -1, -1)", True),
        ("2", "range(3, -1, -1)", False),
    ],
)
def test_the_last_index_after_a_start_is_an_extremum(start, range_, one):
    body = f"def f(x, w):\n at = {start}\n for i in {range_}:\n  if x[i] > 0: at = i\n return at, w[0]"
    assert ("select" not in kinds(agree(body, sizes=(4,)))) and ("if" not in text(agree(body, sizes=(4,)))) == one


VALUE = """def f(x, w, y):
 for i in range(len(x)):
  at = 0
  for j in range(1, len(w)):
   if x[i] * w[j] < x[i] * w[at]: at = j
  y[i] = {}
"""


@pytest.mark.parametrize(
    ("value", "one"), [("x[i] * w[at]", True), ("x[i] * w[at] + 1.0", True), ("w[at]", False), ("x[0] * w[at]", False)]
)
def test_the_value_at_the_place_is_the_extremum(value, one):
    stored = text(agree(VALUE.format(value)))
    assert ("min_j(" in stored and "argmin" not in stored) == one, stored


NEAREST = """__global__ void nearest(const float *p, const float *site, int *which, float *distance, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int best = 0;
  for (int k = 1; k < m; k++) {
    float dx = site[k] - p[i], bx = site[best] - p[i];
    if (dx * dx < bx * bx) best = k;
  }
  float x = site[best] - p[i];
  WHICH
  distance[i] = x * x;
}"""


@pytest.mark.parametrize(("which", "extremum"), [("which[i] = best;", True), ("", False)])
def test_of_no_place_the_first_is_never_passed_over(which, extremum):
    """Without a second site ``site[0]`` is the nearest: an extremum of none would be infinite, silently."""
    done = pipeline.translate(NEAREST.replace("WHICH", which), "k.cu")
    assert ("jnp.min(" in done.text) == extremum and "inf" not in done.text, done.text
    request = pipeline.Request(
        shapes={"p": (3,), "site": (4,), "which": (3,), "distance": (3,)}, values={"n": 3, "m": 4}
    )
    agrees(done, request)
