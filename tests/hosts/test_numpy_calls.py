"""Calls of numpy and cupy between launches: values and tangents against the interpreter."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.hosts.test_libraries import agrees, array

KERNEL = """
import numpy as np
import cupy as cp
from numba import cuda

@cuda.jit
def scale(x, a):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= a
"""
BODIES = {
    "x * np.linspace(0.0, 1.0, x.shape[0]) + np.arange(x.shape[0])": lambda x, y: (
        x * np.linspace(0, 1, 6) + np.arange(6)
    ),
    "np.where(x > y, x, y)": np.maximum,
    "np.outer(x, y)": np.outer,
    "np.clip(x, -0.2, 0.4)": lambda x, y: np.clip(x, -0.2, 0.4),
    "cp.maximum(x, 0.0)": lambda x, y: np.maximum(x, 0),
    "np.diff(x)": lambda x, y: np.diff(x),
    "np.cumprod(x)": lambda x, y: np.cumprod(x),
    "np.maximum.accumulate(x)": lambda x, y: np.maximum.accumulate(x),
}


@pytest.mark.parametrize("body", BODIES)
def test_calls(body):
    source = KERNEL + f"def f(x, y):\n    scale[1, 32](x, 2.0)\n    z = {body}\n    return z\n"
    done = pipeline.translate(source, "a.py")
    assert "f" in done.raised, [d.reason for d in done.diagnostics]
    f = load_module(done.text).f
    x, y = array(6), array(6, 1)
    np.testing.assert_allclose(f(x, y), BODIES[body](2 * x, y), rtol=1e-5)
    agrees(done, f, x=x, y=y)


ROWS = {
    "w.sum(axis=0)": lambda w: w.sum(0),
    "np.sum(w, 1, keepdims=True) * w": lambda w: w.sum(1, keepdims=True) * w,
    "w - w.max(axis=-1, keepdims=True)": lambda w: w - w.max(-1, keepdims=True),
    "np.min(w, axis=0) / w.std(axis=0)": lambda w: w.min(0) / w.std(0),
    "np.linalg.norm(w, axis=1)[:, None] * w": lambda w: np.linalg.norm(w, axis=1)[:, None] * w,
    "w[1:, ::2] + w[0, -1]": lambda w: w[1:, ::2] + w[0, -1],
    "w.cumsum(axis=1).var(axis=0)": lambda w: w.cumsum(1).var(0),
}


@pytest.mark.parametrize("body", ROWS)
def test_along_axes(body):
    source = (
        KERNEL + f"def f(x, w):\n    scale[1, 32](x, 2.0)\n    rows, columns = w.shape\n    z = {body}\n    return z\n"
    )
    done = pipeline.translate(source, "a.py")
    assert "f" in done.raised, [d.reason for d in done.diagnostics]
    f = load_module(done.text).f
    x, w = array(6), array(12, 1).reshape(3, 4)
    np.testing.assert_allclose(f(x, w), ROWS[body](w), rtol=1e-5)
    agrees(done, f, x=x, w=w)


@pytest.mark.parametrize("call", ("np.unique(x)", "np.random.permutation(x)", "np.sum(x, axis=0, dtype=float)"))
def test_refused_by_name(call):
    done = pipeline.translate(KERNEL + f"def f(x):\n    scale[1, 32](x, 2.0)\n    z = {call}\n    return z\n", "a.py")
    assert "f" not in done.raised and "scale" in done.raised
    assert any(call.partition("(")[0] in d.reason and d.code == "KR213" for d in done.diagnostics)
