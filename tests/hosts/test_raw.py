"""Hosts that launch CUDA C kernels of the file's strings (``cupy.RawKernel``, ``RawModule``)."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.hosts.test_libraries import agrees, array

KERNELS = """
import cupy as cp
import numpy as np

SRC = r'''
extern "C" __global__ void saxpy(const float* x, float* y, float a, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
extern "C" __global__ void heat(const float* u, float* v, int h, int w) {
    int x = blockDim.x * blockIdx.x + threadIdx.x;
    int y = blockDim.y * blockIdx.y + threadIdx.y;
    if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
        v[y * w + x] = 0.25f * (u[y * w + x - 1] + u[y * w + x + 1] + u[(y - 1) * w + x] + u[(y + 1) * w + x]);
}
'''
axpy = cp.RawKernel(SRC, "saxpy")
module = cp.RawModule(code=SRC)
heat = module.get_function("heat")
squares = cp.ElementwiseKernel("float32 x", "float32 y", "if (x > 0) y = x * x", "squares")
"""


def translated(body):
    return pipeline.translate(KERNELS + body, "a.py")


def test_vectors():
    done = translated("""
def f(x, y, a, steps):
    n = x.size
    dx, dy = cp.asarray(x), cp.asarray(y)
    for _ in range(steps):
        axpy(((n + 63) // 64,), (64,), (dx, dy, cp.float32(a), n))
    return cp.asnumpy(dy)
""")
    assert "f" in done.raised, [d.reason for d in done.diagnostics]
    f = load_module(done.text).f
    x, y = array(6), array(6, 1)
    np.testing.assert_allclose(f(x, y, 0.5, 3), y + 1.5 * x, rtol=1e-5)
    agrees(done, f, x=x, y=y, a=0.5, steps=3)


def test_arrays_of_two_axes_are_laid_flat():
    done = translated("""
def f(u0, steps):
    h, w = u0.shape
    u = cp.asarray(u0, dtype=cp.float32)
    v = u.copy()
    for _ in range(steps):
        args = (u, v, np.int32(h), np.int32(w))
        heat(((w + 7) // 8, (h + 7) // 8), (8, 8), args)
        u, v = v, u
    return u.get()
""")
    assert "f" in done.raised, [d.reason for d in done.diagnostics]
    u = want = array(30).reshape(5, 6)
    for _ in range(3):
        want = want.copy()
        old = want.copy()
        want[1:-1, 1:-1] = (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]) / 4
    np.testing.assert_allclose(load_module(done.text).f(u, 3), want, rtol=1e-5)


def test_methods_that_launch_and_words():
    done = translated("""
class Decay:
    def __init__(self, x, y):
        self.x, self.y = cp.asarray(x), cp.asarray(y)

    def step(self, a):
        axpy((1,), block=(64,), args=(self.x, self.y, np.float32(a), np.int32(self.x.size)), stream=None)

def f(x, y):
    d = Decay(x, y)
    for n in range(3):
        d.step(0.5 * n)
    return d.y.get()
""")
    module = load_module(done.text)
    x, y = array(6), array(6, 1)
    np.testing.assert_allclose(module.Decay_step(x, y, 2.0), y + 2 * x, rtol=1e-5)
    np.testing.assert_allclose(module.f(x, y), y + 1.5 * x, rtol=1e-5)


REFUSED = {
    "axpy((1,), (64,), (x.T, y, cp.float32(2), n))": "sees the memory",
    "z = x[:, 0]\n    axpy((1,), (64,), (z, y, cp.float32(2), n))": "sees the memory",
    "axpy((1,), (64,), (x[0], y, cp.float32(2), n))": "how many axes",
    "y = squares(x)": "squares is made from text that is not read",
    "args = (x, y, cp.float32(2), n)\n    args = args\n    axpy((1,), (64,), args)": "axpy is made from text",
}


@pytest.mark.parametrize("lines", REFUSED)
def test_what_is_not_known_is_refused(lines):
    done = translated(f"def f(x, y, n):\n    {lines}\n    return y\n")
    assert "f" not in done.raised
    assert any(REFUSED[lines] in d.reason for d in done.diagnostics if d.kernel == "f"), done.diagnostics
    assert {"saxpy", "heat"} <= set(done.raised)
