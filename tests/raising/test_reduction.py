"""``acc = acc op e``: what is a reduction over the loop, and what is not one."""

# ruff: noqa: E501 - kernels on one line

import pytest

from tests.raising.agree import agree, kinds, text

LOOP = "def f(x, w, s):\n a = s\n for i in range(len(x)):\n  {}\n return a + w[0]"

TAKES = {
    "sum": "a += x[i] * w[i]",
    "difference": "a -= x[i]",
    "from the right": "a = x[i] + a",
    "product": "a *= x[i] + 1",
    "fused": "a = math.fma(x[i], w[i], math.fma(w[i], 2.0, a))",
    "max": "a = max(a, x[i])",
    "min, written out": "if x[i] < a: a = x[i]",
    "max, turned round": "if not (x[i] <= a): a = x[i]",
    "max as a conditional": "a = x[i] if x[i] > a else a",
    "masked sum": "if w[i] > 0: a += x[i]",
    "masked max": "if w[i] > 0 and x[i] > a: a = x[i]",
    "nested masks": "if w[i] > 0:\n   if x[i] < a: a = x[i]",
    "both arms": "if w[i] > 0: a += x[i]\n  else: a -= 2 * x[i]",
    "two steps": "a += x[i]\n  a += 2.0 * i\n  if x[i] > 1: a -= 1",
    "affine guard": "if i > 1: a += x[i]",
    "continue": "if i == 1: continue\n  a += x[i]",
    "inner loop": "for j in range(i): a += x[j] * w[i]",
}


@pytest.mark.parametrize("name", TAKES)
def test_takes(name):
    kernel = agree(LOOP.format(TAKES[name]))
    assert kinds(kernel) == {"Reduce"}


BITS = {
    "xor": "a ^= v[i]",
    "or of those that count": "if v[i] > 0: a |= 2 * v[i]",
    "and": "a &= v[i] | 4",
    "from the right, twice": "a = (v[i] ^ a) ^ i",
}


@pytest.mark.parametrize("name", BITS)
def test_takes_bits(name):
    kernel = agree(f"def f(v, n):\n a = 5\n for i in range(len(v)):\n  {BITS[name]}\n return a")
    assert kinds(kernel) == {"Reduce"}


@pytest.mark.parametrize(
    "body", ["a ^= v[i]\n  a |= 1", "a = v[i] ^ (a | 2)", "a = (a ^ v[i]) << 1", "if a & 1: a ^= v[i]"]
)
def test_declines_bits(body):
    kernel = agree(f"def f(v, n):\n a = 5\n for i in range(len(v)):\n  {body}\n return a")
    assert kinds(kernel) != {"Reduce"}


DECLINES = {
    "operators differ": "if w[i] > 0: a += x[i]\n  else: a *= 2",
    "turned difference": "a = x[i] - a",
    "doubled": "a = a + a + x[i]",
    "fused with the factor": "a = math.fma(a, w[i], x[i])",
    "saturating": "a = min(a + x[i], 1.0)",
    "clamped": "a = max(min(a, x[i]), -1.0)",
    "compared with another value": "if x[i] > a: a = w[i]",
    "compared with more than is kept": "if x[i] + 1 > a: a = x[i]",
    "guarded by itself": "if a < 2: a += x[i]",
    "min or max by data": "if w[i] > 0: a = max(a, x[i])\n  else: a = min(a, x[i])",
    "sum of a running maximum's square": "a = max(a, x[i]) + 1",
}


@pytest.mark.parametrize("name", DECLINES)
def test_declines(name):
    assert "Fold" in kinds(agree(LOOP.format(DECLINES[name])))


def test_neutral_start_is_dropped():
    assert text(agree("def f(x):\n a = 0.0\n for i in range(len(x)):\n  a += x[i]\n return a")) == "returns sum_i x[i]"
    assert "1.0 + " in text(agree("def f(x):\n a = 1.0\n for i in range(len(x)):\n  a += x[i]\n return a"))


def test_first_term_as_the_start_is_absorbed():
    first = "def f(x):\n b = x[0]\n for i in range(1, len(x)):\n  b = {}\n return b"
    assert text(agree(first.format("max(b, x[i])"))) == "returns max_i(x[i])"
    assert text(agree(first.format("b + x[i]"))) == "returns sum_i x[i]"


def test_an_extremum_that_starts_with_its_first_term_takes_it_once():
    twice = "def f(x, n):\n b = x[0]\n for i in range({}):\n  b = {}(b, x[i])\n return b"
    assert text(agree(twice.format("len(x)", "max"))) == "returns max_i(x[i])"
    assert "max(n, 1)" in text(agree(twice.format("n", "min")))
    sum_ = "def f(x):\n b = x[0]\n for i in range(len(x)):\n  b += x[i]\n return b"
    assert text(agree(sum_)) == "returns x[0] + sum_i x[i]"


def test_another_start_is_not_absorbed():
    agree("def f(x):\n b = x[1]\n for i in range(1, len(x)):\n  b = max(b, x[i])\n return b")
    agree("def f(x):\n b = x[0]\n for i in range(2, len(x)):\n  b = max(b, x[i])\n return b")
    agree("def f(x):\n b = x[0]\n for i in range(1, len(x)):\n  if x[i] < 2: b = b + x[i]\n return b")
    agree("def f(x, q):\n b = x[q]\n for i in range(q + 1, len(x)):\n  b = max(b, x[i])\n return b")


def test_booleans():
    kernel = agree("def f(x):\n a = True\n b = False\n for i in range(len(x)):\n  a = a and x[i] < 2\n  b = b or x[i] > 1\n"
                   " return a, b")  # fmt: skip
    assert "all_i(x[i] < 2)" in text(kernel) and "any_i(x[i] > 1)" in text(kernel)
    agree("def f(x):\n b = False\n for i in range(len(x)):\n  if x[i] == 1: b = True\n return b")


def test_integers():
    kernel = agree("def f(v, x):\n m = 10\n c = 0\n for i in range(len(v)):\n  if x[i] > 0:\n   m = min(m, v[i])\n   c += v[i]\n"
                   " return m, c")  # fmt: skip
    assert kinds(kernel) == {"Reduce"}


def test_a_condition_on_data_of_the_outer_index():
    kernel = agree("def f(x, y):\n for i in range(len(x)):\n  a = 1.0\n  for j in range(len(x)):\n   if x[i] > 0: a += x[j]\n"
                   "  y[i] = a")  # fmt: skip
    assert kinds(kernel) == {"Reduce"}


def test_the_running_value_must_not_be_used():
    assert "Scan" in kinds(agree("def f(x, y):\n a = 0.0\n for i in range(len(x)):\n  a += x[i]\n  y[i] = a"))
    assert "Fold" in kinds(
        agree("def f(x, k):\n a = 0.0\n c = 0\n for i in range(len(x)):\n  a += x[c]\n  c = k[c]\n return a")
    )
