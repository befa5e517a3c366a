"""Locals that each case of a dispatch sets have a value behind it; what that says of the arguments is stated."""

import pytest

from tests.raising.agree import agree, refusal, text

BODY = "def f(v, x, y, n):\n  i = cuda.grid(1)\n  if i < n:\n    c = {}\n{}    y[i] = r"
CASES = "    if c == 0:\n      r = x[i]\n    elif c == 1:\n      r = 2.0 * x[i]\n    elif c == 2:\n      r = -x[i]\n"


@pytest.mark.parametrize("c, said", (("v[i] & 1", ()), ("i & 1", ()), ("n", ("n is 0, 1 or 2",))))
def test_every_case(c, said):
    head = BODY if "v" in c else BODY.replace("f(v, ", "f(")
    cases = CASES.replace("    elif c == 2:\n      r = -x[i]\n", "") if "&" in c else CASES
    assert agree(head.format(c, cases), sizes=(0, 1, 2)).assumptions == said


def test_stated_of_data():
    kernel = agree(BODY.format("v[i] * v[i]", CASES.replace("== 2", "== 4")), sizes=(1,) * 9)
    assert kernel.assumptions == ("v[i] * v[i] is 0, 1 or 4",), text(kernel)


@pytest.mark.parametrize(
    "body",
    (
        "    if c == 0:\n      r = x[i]\n",
        "    if c == 0:\n      r = x[i]\n    elif c > 1:\n      r = 2.0\n",
        "    if c == 0:\n      r = x[i]\n    elif x[i] == 1:\n      r = 2.0\n",
    ),
)
def test_no_dispatch(body):
    assert refusal(BODY.format("v[i]", body)) == "KR207"


def test_rounds_that_may_hold_the_last_value():
    """In a round that is no case the local holds what another one left."""
    loop = (
        "def f(v, y, n):\n  i = cuda.grid(1)\n  if i < n:\n    s = 0.0\n    for j in range(n):\n      c = {}\n"
        "      if c == 0:\n        r = 1.0\n      elif c == 1:\n        r = 2.0\n      s += r * j\n    y[i] = s"
    )
    assert refusal(loop.format("v[j]")) == refusal(loop.format("j")) == "KR207"
