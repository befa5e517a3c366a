"""Arrays of the function's own that each round of a loop fills anew: the rounds are free, and only then."""

# ruff: noqa: E501 - kernels on one line

import pytest

from kraise.ir import equations as eq
from tests.raising.agree import agree, kinds

HEAD = "def f(A, B):\n s = np.zeros(len(A))\n for i in range(len(A)):\n"
TAKEN = {
    "filled, read": "  for j in range(len(A)):\n   s[j] = A[i, j] * 2\n  for j in range(len(A)):\n   B[i, j] = s[len(A) - 1 - j]",
    "changed in place": "  for j in range(len(A)):\n   s[j] = A[i, j]\n  for j in range(len(A)):\n   s[j] = s[j] * s[j]\n"
    "  for j in range(len(A)):\n   B[i, j] = s[j] - s[0]",
    "under a guard, and its opposite": "  for j in range(len(A)):\n   if A[i, j] > 0:\n    s[j] = A[i, j]\n   else:\n    s[j] = 0\n"
    "  for j in range(len(A)):\n   B[i, j] = s[j]",
}
CARRIED = {
    "read before": "  for j in range(len(A)):\n   B[i, j] = s[j]\n  for j in range(len(A)):\n   s[j] = A[i, j]",
    "filled in part": "  for j in range(i):\n   s[j] = A[i, j]\n  for j in range(len(A)):\n   B[i, j] = s[j]",
    "every second cell": "  for j in range(0, len(A), 2):\n   s[j] = A[i, j]\n  for j in range(len(A)):\n   B[i, j] = s[j]",
    "under a guard": "  for j in range(len(A)):\n   if A[i, j] > 0:\n    s[j] = A[i, j]\n  for j in range(len(A)):\n   B[i, j] = s[j]",
    "added to": "  for j in range(len(A)):\n   s[j] += A[i, j]\n  for j in range(len(A)):\n   s[j] = s[j] * 0.5\n"
    "  for j in range(len(A)):\n   B[i, j] = s[j]",
    "read after the loop": "  for j in range(len(A)):\n   s[j] = A[i, j]\n  for j in range(len(A)):\n   B[i, j] = s[j]\n"
    " for j in range(len(A)):\n  B[0, j] += s[j]",
}


@pytest.mark.parametrize("name", TAKEN)
def test_rounds_that_fill_it_anew_are_free(name):
    assert "Fold" not in kinds(agree("import numpy as np\n" + HEAD + TAKEN[name]))


@pytest.mark.parametrize("name", CARRIED)
def test_rounds_that_see_an_earlier_one_keep_the_loop(name):
    assert "Fold" in kinds(agree("import numpy as np\n" + HEAD + CARRIED[name]))


def test_what_an_array_keeps_is_what_is_read_back():
    source = "import numpy as np\ndef f(x, y):\n s = np.zeros(len(x), np.int32)\n for i in range(len(x)):\n  s[i] = x[i] * 0.75\n  y[i] = s[i]"
    assert "int" in " ".join(agree(source).equations)


def test_a_form_that_the_loops_need_not_is_not_lost():
    source = (
        "import numpy as np\ndef f(x, y, z):\n n = len(x)\n s = np.zeros(n)\n s[0] = x[0]\n for i in range(1, n):\n"
        "  s[i] = x[i] / (3.0 - y[i] * s[i - 1])\n z[n - 1] = s[n - 1]\n for i in range(n - 2, -1, -1):\n  z[i] = s[i] - z[i + 1]"
    )
    assert "Fold" in kinds(agree(source, sizes=(1, 2, 5)))


LOOP = "def f(x, y, m):\n n = len(x)\n y[0] = m\n s = np.zeros(n + 1)\n s[n] = 2.0\n for r in range(m):\n"
RUNG = "  for j in range(n):\n   x[j] = 0.5 * (x[j] + s[j + 1])"
REWRITTEN = {
    "all but the last cell": "  for j in range(n):\n   s[j] = x[j]\n" + RUNG,
    "all of it": "  for j in range(n + 1):\n   s[j] = x[j % n]\n" + RUNG,
    "backwards": "  for j in range(n):\n   s[n - 1 - j] = x[j]\n" + RUNG,
}
KEPT = {
    "a part": "  for j in range(n - 3):\n   s[j] = x[j]\n" + RUNG,
    "under a guard": "  for j in range(n):\n   if x[j] > 0.5:\n    s[j] = x[j]\n" + RUNG,
    "other cells each round": "  for j in range(n - 1):\n   s[j + r % 2] = x[j]\n" + RUNG,
    "added to": "  for j in range(n):\n   s[j] = 0.5 * s[j] + x[j]\n" + RUNG,
    "read before": RUNG + "\n  for j in range(n):\n   s[j] = x[j] * x[j]",
    "read after the loop": "  for j in range(n):\n   s[j] = x[j]\n" + RUNG + "\n for j in range(n):\n  y[j] = s[j]",
}


def carried(kernel):
    return {c.outside.array for s in kernel.body if isinstance(s, eq.Fold) for c in s.arrays}


@pytest.mark.parametrize("name", REWRITTEN)
def test_what_each_round_fills_anew_is_not_carried(name):
    assert carried(agree("import numpy as np\n" + LOOP + REWRITTEN[name], sizes=(1, 2, 5))) == {"x"}


@pytest.mark.parametrize("name", KEPT)
def test_what_a_round_may_see_of_an_earlier_one_is_carried(name):
    assert {"x", "s"} <= carried(agree("import numpy as np\n" + LOOP + KEPT[name], sizes=(2, 5)))
