"""Lists that grow in loops, numba's reductions, launch configurations and generators that are handed around."""

import numpy as np
import pytest

from kraise.verify.load import load_module
from tests.hosts.test_hosts import agrees, array, codes, python

KERNELS = """
import time
@cuda.jit
def more(u, s):
    i = cuda.grid(1)
    if i < u.size:
        u[i] += s
@cuda.jit
def mul(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * y[i]
@cuda.reduce
def total(a, b):
    return a + b
largest = cuda.reduce(lambda a, b: a if a > b else b)
product = cuda.Reduce(lambda a, b: a * b)
@cuda.reduce
def odd(a, b):
    return a - b
"""

RECORDS = {
    "each round": ("for t in range(n):\n  more[1, 64](u, 0.5)\n  kept.append(u.copy_to_host().sum())", (4,)),
    "from a place on": ("for t in range(2, n + 3):\n  more[1, 64](u, 0.5)\n  kept.append(u[0])", (5,)),
    "by a step": ("for t in range(1, n + 4, 3):\n  more[1, 64](u, 0.5)\n  kept.append(float(u[t]))", (3,)),
    "some rounds": ("for t in range(n + 3):\n  more[1, 64](u, 0.5)\n  if t % 3 == 0:\n   kept.append(u.mean())", (3,)),
    "arrays": ("for t in range(n):\n  more[1, 64](u, 0.5)\n  kept.append(u.copy_to_host())", (4, 9)),
    "some arrays": ("for t in range(n):\n  more[1, 64](u, 0.5)\n  if t % 2 == 0:\n   kept.append(u.copy())", (2, 9)),
    "stacked": ("for t in range(n):\n  more[1, 64](u, 0.5)\n  kept.append(u.copy())\n kept = np.array(kept)", (4, 9)),
    "joined": ("for t in range(n):\n  more[1, 64](u, 0.5)\n  kept.append(u.copy())\n kept = np.stack(kept)", (4, 9)),
    "its own": ("for t in range(n):\n  w = u.copy()\n  more[1, 64](w, 2.0 * t)\n  kept.append(w)", (4, 9)),
}  # fmt: skip


@pytest.mark.parametrize("name", RECORDS)
def test_records_are_arrays(name):
    loop, shape = RECORDS[name]
    done = python(KERNELS + f"def f(x, n):\n u = cuda.to_device(x)\n kept = []\n {loop}\n return u, kept\n")
    assert "f" in done.raised, done.diagnostics
    x = array(9)
    agrees(done, "f", x=x, n=4)
    assert load_module(done.text).f(x, 4)[1].shape == shape


@pytest.mark.parametrize(
    "loop",
    (
        "kept.append(u)",
        "kept.append(u[2:])",
        "kept.append(u.reshape(3, 3))",
        "h = u.copy()\n  kept.append(h)\n  more[1, 64](h, 1.0)",
        "u.copy_to_host(h)\n  kept.append(h)",
        "g = np.asarray(h)\n  more[1, 64](h, 1.0)\n  kept.append(g)",
    ),
)
def test_one_array_kept_in_all_rounds_is_no_record(loop):
    """The list holds that array so many times, with what it has at the end."""
    body = (
        f"def f(x, h, n):\n u = cuda.to_device(x)\n kept = []\n for t in range(n):\n  more[1, 64](u, 0.5)\n  {loop}\n"
    )
    done = python(KERNELS + f"{body} return u, np.stack(kept)\n")
    assert "f" not in done.raised


def test_records_are_the_values_of_their_rounds():
    done = python(
        KERNELS
        + "def f(x, n):\n u = cuda.to_device(x)\n kept = []\n for t in range(1, 2 * n, 2):\n  more[1, 64](u, t)\n"
        "  kept.append(u[0])\n return kept, kept[-1], len(kept)\n"
    )
    kept, last, count = load_module(done.text).f(np.zeros(3, np.float32), 3)
    assert [float(k) for k in kept] == [1.0, 4.0, 9.0] and float(last) == 9.0 and int(count) == 3


@pytest.mark.parametrize(
    "loop",
    (
        "for t in range(n):\n  more[1, 64](u, 0.5)\n  kept.append(u[0])\n  if u[0] > 3.0:\n   break",
        "for t in range(n):\n  more[1, 64](u, 0.5)\n  if u[0] > 3.0:\n   kept.append(u[0])",
        "for t in range(n):\n  more[1, 64](u, 0.5)\n  kept.append(u[0])\n  kept.append(u[1])",
        "for t in range(n):\n  more[1, 64](u, 0.5)\n  kept.append(u[0])\n kept = kept + [1.0]",
        "for t in range(n):\n  more[1, 64](u, 0.5)\n  kept.append(u[0])\n kept.append(2.0)",
        "for t in range(n):\n  more[1, 64](u, 0.5)\n  if len(kept) > 2:\n   more[1, 64](u, 2.0)\n  kept.append(u[0])",
    ),
)
def test_other_lists_are_refused(loop):
    done = python(KERNELS + f"def f(x, n):\n u = cuda.to_device(x)\n kept = []\n {loop}\n return u, kept\n")
    assert "f" not in done.raised and codes(done)


REDUCED = {"total(x)": "sum", "largest(x)": "max", "product(x)": "prod", "total(x, init=2.0)": "sum",
           "total(mulled(x, x))": "sum"}  # fmt: skip


@pytest.mark.parametrize("call", REDUCED)
def test_reductions(call):
    helper = "def mulled(a, b):\n out = cuda.device_array_like(a)\n mul[1, 64](a, b, out)\n return out\n"
    done = python(KERNELS + helper + f"def f(x):\n d = cuda.to_device(x)\n more[1, 64](d, 1.0)\n return {call}, d\n")
    assert "f" in done.raised and f".{REDUCED[call]}(" in done.text, done.diagnostics
    agrees(done, "f", x=array(9))


def test_other_reductions_are_refused():
    done = python(KERNELS + "def f(x):\n more[1, 64](x, 1.0)\n return odd(x)\n")
    assert "f" not in done.raised


def test_a_configuration_that_is_handed_around():
    body = (
        "def dot(x, y, out, cfg):\n mul[cfg](x, y, out)\n return total(out)\n"
        "def f(x, y):\n cfg = ((x.size + 31) // 32, 32)\n tmp = cuda.device_array_like(x)\n"
        " a = dot(x, y, tmp, cfg)\n b = dot(x, x, tmp, cfg)\n more[cfg](x, a / b)\n return x\n"
    )
    done = python(KERNELS + body)
    assert {"f", "dot"} <= set(done.raised), done.diagnostics
    assert "def dot(x, y, out):" in done.text
    agrees(done, "f", x=array(9), y=array(9, 1))
    agrees(done, "dot", x=array(9), y=array(9, 1), out=array(9, 2))


def test_what_nobody_uses_is_left_out():
    body = (
        "def f(x, seed):\n rng = np.random.default_rng(seed)\n order = np.arange(x.size)\n t = time.time()\n"
        " more[1, 64](x, 2.0)\n return x\n"
    )
    done = python(KERNELS + body)
    assert "f" in done.raised, done.diagnostics
    agrees(done, "f", x=array(9), seed=1)


def test_a_generator_that_is_used_is_refused():
    done = python(
        KERNELS + "def f(x, seed):\n rng = np.random.default_rng(seed)\n more[1, 64](x, rng.random())\n return x\n"
    )
    assert "f" not in done.raised
