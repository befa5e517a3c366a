"""Functions of the module, evaluated in place."""

import pytest

from tests.raising.agree import agree, raised, refusal

KERNEL = "@cuda.jit\ndef f(x, y):\n i = cuda.grid(1)\n if i < len(x):\n  "
HELPERS = {
    "two returns": ("def g(a, b):\n if a > b:\n  return a - b\n return b * 2", "y[i] = g(x[i], y[i]) + g(y[i], x[i])"),
    "three ways": (
        "def g(a):\n if a < 0:\n  return 0.0\n elif a > 1:\n  return 1.0\n else:\n  return a",
        "y[i] = g(x[i] + g(y[i]))",
    ),
    "a loop": ("def g(x, i):\n s = 0.0\n for j in range(i): s += x[j]\n return s", "s = 3.0\n  y[i] = g(x, i) + s"),
    "a store": ("def g(y, i, v):\n if v > 0: y[i] = v", "g(y, i, x[i])\n  y[i] += 1"),
    "a store in a loop": ("def g(y, i, v):\n if v > 0: y[i] = v", "for j in range(3): g(y, i, x[i] + y[i])"),
    "names of its own": ("def g(i):\n j = i + 1\n i = 2 * j\n return i", "j = 10\n  y[i] = g(x[i]) + i + j"),
    "its arrays are swapped": ("def g(a, b, i):\n a[i] = b[i] * 2", "g(y, x, i)\n  g(x, y, i)"),
    "recurrence": ("def g(a, n):\n for j in range(n): a = 1 - a * 2\n return a", "y[i] = g(x[i], 3)"),
}


@pytest.mark.parametrize("name", HELPERS)
def test_agrees(name):
    helper, body = HELPERS[name]
    agree("@cuda.jit(device=True)\n" + helper + "\n" + KERNEL + body)


def test_a_helper_races_like_its_text():
    helper = "@cuda.jit(device=True)\ndef g(y, i, v):\n y[i] = v\n"
    raised(helper + KERNEL + "g(y, i, x[i])")
    assert refusal(helper + KERNEL + "g(y, 0, x[i])") == "KR201"
    assert refusal(helper + KERNEL + "g(y, i, 2 * y[0])") == "KR201"
    raised(helper + KERNEL + "g(y, i, y[0])")  # what is stored to y[0] is what it holds
