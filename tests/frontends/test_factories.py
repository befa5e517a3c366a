"""Kernels that a function of the module makes from numbers."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

SOURCE = """
import numpy as np
from numba import cuda
BASE = 2

def make(power, scale=1.5):
    \"\"\"A kernel.\"\"\"
    coeff = scale / (power + 1)
    shift = -coeff * BASE

    @cuda.jit
    def poly(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = coeff * x[i] ** power + shift

    return poly

cubic = make(3)
square = make(scale=3.0, power=BASE)

def both(x):
    out = cuda.device_array_like(x)
    cubic[1, 64](x, out)
    square[1, 64](out, x)
    return x, out
"""
LOCAL = """
def local(x):
    k = make(1)
    out = cuda.device_array_like(x)
    k[1, 64](x, out)
    return out
"""


def test_each_call_is_a_kernel():
    done = pipeline.translate(SOURCE + LOCAL, "a.py")
    assert [d.reason for d in done.diagnostics if d.severity == "error"] == []
    assert set(done.raised) == {"cubic", "square", "k", "both", "local"}
    module = load_module(done.text)
    x = np.linspace(-1, 1, 5).astype(np.float32)
    first = 0.375 * x**3 - 0.75
    for got, want in zip(module.both(x), (first**2 - 2, first), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)
    np.testing.assert_allclose(module.local(x), 0.75 * x - 1.5, rtol=1e-5)


CHANGED = {
    "cubic = make(3)": "cubic = make(np.random.rand())",  # no number of the text
    "        i = cuda.grid(1)": "        i = cuda.grid(1)\\n        coeff = 2.0",  # the kernel's own
    "    shift = -coeff * BASE": "    shift = -coeff * BASE\\n    shift = 2.0",  # set twice
}


@pytest.mark.parametrize("old", CHANGED)
def test_what_is_not_known_stays_as_it_is(old):
    done = pipeline.translate(SOURCE.replace(old, CHANGED[old].replace("\\n", "\n")), "a.py")
    assert "cubic" not in done.raised
    assert any(d.kernel == "poly" and d.code == "KR102" for d in done.diagnostics) or "poly" in done.raised


def test_kernels_of_other_files_are_named():
    done = pipeline.translate("from kernels import step\n\ndef f(x):\n    step[1, 64](x, x)\n    return x\n", "a.py")
    assert [(d.code, d.kernel) for d in done.diagnostics] == [("KR213", "f")]


GIVEN = """
import math
from numba import cuda

@cuda.jit(device=True)
def decay(v):
    return 2.0 * v * v

def make(terms, f):
    @cuda.jit
    def total(x, out):
        i = cuda.grid(1)
        if i < x.size:
            s = 0.0
            for t in range(terms):
                s += f(x[i]) / (t + 1)
            out[i] = s
    return total

doubled = make(2, decay)
roots = make(1, math.sqrt)
"""


def test_functions_that_a_factory_is_given():
    module = load_module(pipeline.translate(GIVEN, "a.py").text)
    x = np.linspace(0.5, 2, 5)
    np.testing.assert_allclose(module.doubled(x, np.zeros(5)), 3.0 * x * x, rtol=1e-5)
    np.testing.assert_allclose(module.roots(x, np.zeros(5)), np.sqrt(x), rtol=1e-5)
    slope = jax.grad(lambda x: module.doubled(x, np.zeros(5)).sum())(x)
    np.testing.assert_allclose(slope, 6.0 * x, rtol=1e-5)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("            s = 0.0\n", "            decay = 1.0\n            s = 0.0\n"),  # the kernel's own
        ("\ndef make", "\nif math.pi > 4:\n    def decay(v):\n        return v\n\ndef make"),
    ],
)
def test_names_of_functions_that_mean_two_things(old, new):
    assert old in GIVEN
    assert "doubled" not in pipeline.translate(GIVEN.replace(old, new), "a.py").raised
