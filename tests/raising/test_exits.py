"""return, break, continue and loop-else as flags and guards."""

# ruff: noqa: E501 - kernels on one line

import pytest

from kraise import pipeline
from tests.checks import agrees
from tests.raising.agree import agree, kinds, text

CASES = {
    "break before the use": "def f(x, y):\n a = 0.0\n for i in range(len(x)):\n  if x[i] > 1: break\n  a += x[i]\n  y[i] = a\n"
    " return a",
    "break after the store": "def f(x, y):\n for i in range(len(x)):\n  y[i] = x[i]\n  if x[i] > 1: break",
    "break on what was summed": "def f(x, y):\n a = 0.0\n for i in range(len(x)):\n  a += x[i]\n  if a > 2: break\n  y[i] = a\n"
    " return a",
    "else": "def f(x):\n t = 0\n for i in range(len(x)):\n  if x[i] > 1:\n   t = 1\n   break\n else:\n  t = 2\n return t",
    "else without break": "def f(x):\n t = 0.0\n for i in range(len(x)):\n  t += x[i]\n else:\n  t = t * 2\n return t",
    "while else": "def f(x):\n i = 0\n while i < len(x):\n  if x[i] > 1: break\n  i += 1\n else:\n  i = 100\n return i",
    "variable after break": "def f(x):\n i = 50\n for i in range(len(x)):\n  if x[i] > 1: break\n return i",
    "first match": "def f(x):\n t = -1\n for i in range(len(x)):\n  if x[i] > 0:\n   t = i\n   break\n return t",
    "break inside": "def f(A, y):\n for i in range(len(A)):\n  a = 0.0\n  for j in range(len(A)):\n   if A[i, j] < 0: break\n"
    "   a += A[i, j]\n  y[i] = a",
    "break and continue": "def f(A, y):\n c = 0\n for i in range(len(A)):\n  for j in range(len(A)):\n   if A[i, j] < 0: continue\n"
    "   if j > i: break\n   c += 1\n  if c > 3: break\n  y[i] = c\n return c",
    "break by index": "def f(x):\n a = 0.0\n for i in range(len(x)):\n  if i == 2: break\n  a += x[i]\n return a",
    "two breaks": "def f(x, w):\n a = 0.0\n for i in range(len(x)):\n  if x[i] > 1: break\n  a += 1\n  if w[i] > 1: break\n"
    "  a += 10\n return a",
    "continue keeps what was done": "def f(x, y):\n a = 0.0\n for i in range(len(x)):\n  a += 1.0\n  if x[i] < 0: continue\n"
    "  y[i] = a\n  a = 0.0\n return a",
    "continue skips a store": "def f(x, y):\n for i in range(len(x)):\n  if x[i] < 0: continue\n  y[i] = x[i]",
    # what is asked of the round that leaves is not asked of those after it
    "some that leave do": "def f(x, w):\n t = 0\n for i in range(len(x)):\n  if x[i] < 0:\n   if w[i] > 0: t = 1\n   break\n return t",
    "some that leave set a flag": "def f(x, w):\n t = True\n for i in range(len(x)):\n  if x[i] < 0:\n   if w[i] > 0: t = False\n"
    "   break\n return t",
    "some that leave keep it": "def f(x, w):\n t = 7\n for i in range(len(x)):\n  if x[i] < 0:\n   if w[i] > 0: t = i\n   break\n return t",
    "some that leave store": "def f(x, w, y):\n for j in range(len(y)):\n  for i in range(len(x)):\n   if x[i] < 0:\n    if w[i] > 0: y[j] = 3\n"
    "    break",
    "all that leave set a flag": "def f(x, w):\n t = True\n for i in range(len(x)):\n  if x[i] != w[i]:\n   t = False\n   break\n return t",
    "an arm returns": "def f(x, y):\n i = cuda.grid(1)\n if i >= len(x): return\n if x[i] > 1: v = 2\n elif x[i] < 0: v = 3\n"
    " else: return\n y[i] = v",
    "both arms leave": "def f(x):\n for i in range(len(x)):\n  if x[i] < 0: continue\n  else: break\n return len(x)",
    "early returns": "def f(x, y):\n i = cuda.grid(1)\n if i >= len(x): return\n if x[i] < 0:\n  y[i] = -1\n  return\n y[i] = 2",
    "return in a thread's loop": "def f(x, y):\n i = cuda.grid(1)\n if i >= len(x): return\n for j in range(len(x)):\n"
    "  if x[j] > x[i]:\n   y[i] = j\n   return\n y[i] = -1",
    "a sum, then a return": "def f(x, y):\n i = cuda.grid(1)\n if i >= len(x): return\n a = 0.0\n for j in range(len(x)):\n"
    "  if x[j] < 0 or j == i: continue\n  a += x[j]\n if a > 2: return\n y[i] = a",
    "returned arms": "def f(x):\n if x[0] > 0:\n  return x[0]\n return -1.0",
    "break of the outer by a flag": "def f(A):\n c = 0\n for i in range(len(A)):\n  stop = False\n  for j in range(len(A)):\n"
    "   if A[i, j] > 1:\n    stop = True\n    break\n   c += 1\n  if stop: break\n return c",
    "a number, then a counter": "def f(x, y):\n for i in range(len(x)):\n  p = x[i] * 2\n  y[i] = p\n for i in range(len(x)):\n"
    "  p = 0\n  while p < len(x) and x[p] > 0.5: p += 1\n  if p < len(x): y[i] += x[p]\n return y",
    # an exit behind `else` is one of the loop around
    "else continues the outer": "def f(A):\n c = 0\n for i in range(len(A)):\n  for j in range(len(A)):\n   if A[i, j] > 1: break\n"
    "   c += 1\n  else: continue\n  break\n return c",
    "else leaves the outer": "def f(A, y):\n c = 0\n for i in range(len(A)):\n  j = 0\n  while j < len(A):\n   if A[i, j] > 1: break\n"
    "   c += 1\n   j += 1\n  else:\n   c += 9\n   if c > 20: break\n   if i == 1: continue\n   c += 5\n  y[i] = c\n return c",
    "a branch that nobody takes": "def f(A, y):\n i = cuda.grid(1)\n if i >= len(A): return\n a = 0\n b = 0\n c = A[i, 0]\n"
    " for j in range(1, len(A)):\n  if a > 0:\n   c += 3\n   break\n  k = 0\n  while k < A[i, j] * 9 and c > 0:\n   b += 1\n   k += 1\n"
    " y[i] = b",
    "else returns": "def f(x, y):\n i = cuda.grid(1)\n if i >= len(x): return\n for j in range(len(x)):\n  if x[j] > x[i]:\n"
    "   y[i] = j\n   break\n else:\n  y[i] = -1\n  return\n y[i] += 100",
}


@pytest.mark.parametrize("name", CASES)
def test_agrees(name):
    agree(CASES[name])


@pytest.mark.parametrize(
    "name", ["break before the use", "first match", "break inside", "return in a thread's loop", "else"]
)
def test_a_break_on_data_needs_no_loop(name):
    assert "Fold" not in kinds(agree(CASES[name]))


def test_a_flag_that_each_round_that_leaves_sets_asks_for_no_first_round():
    assert "all_i(x[i] == w[i])" in text(agree(CASES["all that leave set a flag"]))
    assert "min_" in text(agree(CASES["some that leave set a flag"]))


@pytest.mark.parametrize("name", ["break on what was summed", "continue keeps what was done"])
def test_a_break_on_what_is_carried_does(name):
    assert "Fold" in kinds(agree(CASES[name]))


BEHIND = {  # the loop's variable is read behind the loop
    "numbers": "for j in range(4):\n  if x[i] * j > 1: break\n y[i] = j",
    "else": "for j in range(4):\n  if x[i] * j > 1: break\n else:\n  j = -1\n y[i] = j",
    "a parameter": "for j in range(n):\n  if x[i] * j > 1: break\n y[i] = j",
    "downwards": "for j in range(n, 0, -2):\n  if x[i] * j < 1: break\n y[i] = j",
    "beside what is carried": "a = 0.0\n for j in range(n):\n  a = a * a + x[i]\n  if a > 3: break\n y[i] = a + j",
    "within a loop": "a = 0\n for k in range(2):\n  for j in range(n):\n   if x[i] * j > k: break\n  a += j\n y[i] = a",
    "only some rounds": "a = 0\n for k in range(3):\n  for j in range(k):\n   if x[i] * j > 1: break\n  if k > 0: a = a * 3 + j\n y[i] = a",  # noqa: E501
    "a number before": "j = 7\n for j in range(n):\n  if x[i] * j > 1: break\n y[i] = j",
    "two loops": "for j in range(n):\n  if x[i] * j > 1: break\n a = j\n for j in range(3):\n  if x[i] < j: break\n y[i] = a * 5 + j",  # noqa: E501
}


@pytest.mark.parametrize("name", BEHIND)
def test_the_variable_behind_its_loop(name):
    agree(f"def f(x, y, n):\n i = cuda.grid(1)\n if i >= len(x): return\n {BEHIND[name]}")


THREE = """__global__ void f(const int *a, int *y, int *z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int p = 0;
  do {
    int q = 0; ++p;
    do {
      int r = 0; ++q;
      do { ++r; if (a[i] + r < q) { z[i] = q; return; } } while (r < 3);
      if (a[i] > 3) break;
    } while (q < 4);
  } while (p < (i & 3) + 1);
  y[i] = p;
}"""


def test_each_loop_that_tests_last_has_a_first_round_of_its_own():
    values = {"a": [0, 1, 2, 3, 4, 5, 2], "n": 7}
    agrees(pipeline.translate(THREE, "f.cu"), pipeline.Request(values=values))
