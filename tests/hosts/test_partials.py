"""``functools.partial`` in Python hosts: calls of what it holds."""

import pytest

from tests.hosts.test_hosts import agrees, array, codes, python

KERNELS = """
from functools import partial
@cuda.jit
def mix(a, b, o, s):
    i = cuda.grid(1)
    if i < o.size:
        o[i] = a[i] + s * b[i]
def blend(x, y, dt=0.1, gain=1.0):
    out = cuda.device_array_like(x)
    mix[1, 64](x, y, out, dt * gain)
    return out
half = partial(blend, dt=0.5)
"""


@pytest.mark.parametrize(
    "body",
    (
        "return half(x, y)",
        "return half(x, y, dt=2.0)",
        "s = 0.25\n go = partial(blend, gain=s)\n s = 3.0\n return go(x, y, dt=s)",
        "out = cuda.device_array_like(x)\n go = partial(mix[1, 64], x)\n for t in range(3):\n  go(y, out, t * 0.5)"
        "\n return out",
        "for t in range(3):\n  go = partial(blend, y, dt=t * 0.5)\n  x = go(x)\n return x",
        "u = x\n go = partial(blend, u)\n u = y\n return go(u)",
    ),
)
def test_what_is_held(body):
    done = python(KERNELS + f"def f(x, y):\n {body}\n")
    assert "f" in done.raised, done.diagnostics
    agrees(done, "f", x=array(9), y=array(9, 1))


def test_the_values_are_those_of_python():
    """The numbers of the first example, by hand: what is held wins over the default, what is given over both."""
    body = "s = 0.25\n go = partial(blend, gain=s)\n s = 4.0\n a = go(x, y, dt=s)\n b = half(x, y)\n return a, b\n"
    done = python(KERNELS + f"def f(x, y):\n {body}")
    space: dict = {}
    exec(compile(done.text, "a.py", "exec"), space)
    x, y = array(5), array(5, 1)
    one, two = space["f"](x, y)
    assert abs(one - (x + y)).max() < 1e-6 and abs(two - (x + 0.5 * y)).max() < 1e-6


@pytest.mark.parametrize(
    "body",
    (
        "go = partial(blend, x)\n go = partial(blend, y)\n return go(x)",  # set twice
        "go = partial(blend, *[x])\n return go(y)",
        "go = half\n return go(x, y)",
    ),
)
def test_others_are_refused(body):
    done = python(KERNELS + f"def f(x, y):\n {body}\n")
    assert "f" not in done.raised and codes(done)
