"""A return in the middle of a host function: in branches, in loops, with other values than the last one."""

import jax.numpy as jnp
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.hosts.test_hosts import agrees, array, codes, cuda, python

EARLY = (
    "def f(u, v, n, steps):\n    if steps <= 0:\n        return u.copy()\n"
    "    for _ in range(steps):\n        step[1, 32](u, v, n)\n        u, v = v, u\n    return u\n"
)
IN_LOOP = (
    "def f(u, n, steps, low):\n    a = cuda.to_device(u)\n    b = cuda.to_device(u)\n    for it in range(steps):\n"
    "        step[1, 32](a, b, n)\n        if b[1] < low:\n            return b.copy_to_host(), it\n"
    "        a, b = b, a\n    return a.copy_to_host(), steps\n"
)
VOID = (
    "def f(u, v, n, mode):\n    if mode == 0:\n        return\n    step[1, 32](u, v, n)\n    if mode == 1:\n"
    "        return\n    step[1, 32](v, u, n)\n"
)


@pytest.mark.parametrize("steps", (-1, 0, 1, 3))
def test_before_the_work(steps):
    agrees(python(EARLY), "f", u=array(9), v=array(9, 1), n=9, steps=steps)


@pytest.mark.parametrize("low", (0.0, 0.35, 9.0))
def test_in_a_loop(low):
    agrees(python(IN_LOOP), "f", u=array(9), n=9, steps=5, low=low)


@pytest.mark.parametrize("mode", (0, 1, 2))
def test_without_a_value(mode):
    agrees(python(VOID), "f", u=array(9), v=array(9, 1), n=9, mode=mode)


@pytest.mark.parametrize("n", (2, 9))
def test_status_of_cuda(n):
    body = (
        "int f(float *a, float *b, int n, int steps) {\n    if (n < 3) return -1;\n"
        "    for (int t = 0; t < steps; t++) {\n        step<<<1, 32>>>(a, b, n);\n        step<<<1, 32>>>(b, a, n);\n"
        "    }\n    return 0;\n}\n"
    )
    agrees(cuda(body), "f", a=array(9), b=array(9, 1), n=n, steps=2)


def test_the_same_return_twice_needs_no_flag():
    body = IN_LOOP.replace("return b.copy_to_host(), it", "return a").replace(", steps\n", "\n")
    done = python(body)
    assert "returned" not in done.text
    agrees(done, "f", u=array(9), n=9, steps=5, low=0.35)


def test_returns_of_other_kinds_are_refused():
    assert "KR211" in codes(python(EARLY.replace("u.copy()", "0")))
    assert "KR211" in codes(python(EARLY.replace("return u.copy()", "return")))


def test_a_number_is_returned_as_the_type_of_the_function():
    source = """
__global__ void sq(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= x[i]; }
int whole(float *x, int n) { sq<<<(n + 63) / 64, 64>>>(x, n); float t = x[0] * 2.5f; return t; }
bool any(float *x, int n) { sq<<<(n + 63) / 64, 64>>>(x, n); return x[0]; }
"""
    done = pipeline.translate(source, "h.cu")
    assert done.text and not done.diagnostics, done.diagnostics
    module = load_module(done.text)
    x = jnp.asarray([-1.5, 2.0], jnp.float32)
    assert module.whole(x, 2)[0] == 5 and module.whole(x, 2)[0].dtype == jnp.int32  # 5.625, cut off
    assert module.any(x, 2)[0].dtype == bool
