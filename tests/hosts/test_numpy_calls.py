"""Calls of numpy and cupy between launches: values and tangents against the interpreter."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.hosts.test_libraries import agrees, array

KERNEL = """
import math
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
    "cp.sqrt(cp.abs(x)) + cp.exp(-cp.tanh(y))": lambda x, y: np.sqrt(np.abs(x)) + np.exp(-np.tanh(y)),
    "np.square(x) + np.roll(y, 2)": lambda x, y: x * x + np.roll(y, 2),
    "np.flip(x) * np.prod(y)": lambda x, y: np.flip(x) * np.prod(y),
    "np.concatenate((x, y))": lambda x, y: np.concatenate((x, y)),
    "np.stack([x, y], axis=1)": lambda x, y: np.stack([x, y], axis=1),
    "np.vstack([x, y]) @ x": lambda x, y: np.vstack([x, y]) @ x,
    "np.logaddexp(x, y) + np.ptp(x) * np.reciprocal(y) + np.nansum(x) + np.nanmax(y) - np.nanmin(x)": lambda x, y: (
        np.logaddexp(x, y) + np.ptp(x) / y + np.sum(x) + np.max(y) - np.min(x)
    ),
    "np.append(x, y)[1:7] + np.rot90(np.outer(x, y)).diagonal() + np.take(x, np.argsort(y, kind='stable'))": (
        lambda x, y: np.append(x, y)[1:7] + np.diagonal(np.rot90(np.outer(x, y))) + x[np.argsort(y)]
    ),
    "x * np.searchsorted(np.sort(y), x, side='right') + np.tri(6)[2, :] + np.digitize(y, np.sort(x)) * y": (
        lambda x, y: x * np.searchsorted(np.sort(y), x, side="right") + np.tri(6)[2] + np.digitize(y, np.sort(x)) * y
    ),
    "np.where(np.logical_xor(x > 0, y > 0) | np.isclose(x, x), x, y) * math.log(8, 2) + np.heaviside(y, 0.5)": (
        lambda x, y: 3 * x + np.heaviside(y, 0.5)
    ),
    "np.linalg.inv(np.outer(x, x)[:2, :2] + np.outer(y, y)[:2, :2])": lambda x, y: np.linalg.inv(
        np.outer(x, x)[:2, :2] + np.outer(y, y)[:2, :2]
    ),
    "np.fft.irfft(np.fft.rfft(x), x.shape[0])": lambda x, y: x,
    "np.real(np.fft.ifft(1j * np.fft.fftfreq(x.size, 0.5) * np.fft.fft(x)))": lambda x, y: np.real(
        np.fft.ifft(1j * np.fft.fftfreq(x.size, 0.5) * np.fft.fft(x))
    ),
    'np.einsum("i,j->ij", x, y) + np.diag(y) + np.diag(x[1:], 1)': lambda x, y: (
        np.outer(x, y) + np.diag(y) + np.diag(x[1:], 1)
    ),
    "np.round(y) + x * np.einsum('i,i->', x, y) + np.tensordot(x, y, axes=1)": lambda x, y: (
        np.round(y) + (x + 1) * (x @ y)
    ),
    "x[np.argsort(y)] * (x > y).sum() + np.roll(np.outer(x, y), 1, axis=1)[0, :]": lambda x, y: (
        x[np.argsort(y)] * (x > y).sum() + x[0] * np.roll(y, 1)
    ),
    "np.clip(x, 0.1, None) + np.median(y) + np.where(np.array_equal(x, x), x, y) + sum(x) + max(y)": lambda x, y: (
        np.maximum(x, 0.1) + np.median(y) + x + np.sum(x) + np.max(y)
    ),
    'np.pad(x, 1, mode="edge")[1:-1] + np.pad(y, (2, 0), "wrap")[:6] + np.pad(np.outer(x, y), ((1, 0), (0, 2)))[1, :6]': (  # noqa: E501
        lambda x, y: x + np.pad(y, (2, 0), "wrap")[:6] + x[0] * y
    ),
    "np.fft.irfft(np.fft.rfft(x), n=6) * np.fft.fftfreq(6, d=0.5) + np.convolve(x, y, mode='same')": lambda x, y: (
        x * np.fft.fftfreq(6, 0.5) + np.convolve(x, y, mode="same")
    ),
    "np.linalg.lstsq(np.outer(x, x) + np.eye(6), y, rcond=None)[0] * np.var(x, ddof=1) + np.trapezoid(y, dx=0.2)": (
        lambda x, y: np.linalg.solve(np.outer(x, x) + np.eye(6), y) * np.var(x, ddof=1) + np.trapezoid(y, dx=0.2)
    ),
    "np.linalg.cholesky(np.outer(x, x) + np.eye(6)) @ np.interp(x, np.linspace(-2.0, 2.0, num=5), np.arange(5.0))": (
        lambda x, y: np.linalg.cholesky(np.outer(x, x) + np.eye(6)) @ np.interp(x, np.linspace(-2, 2, 5), np.arange(5))
    ),
    "np.std(np.outer(x, y) + y, axis=0, ddof=1) + np.var(np.outer(x, y), axis=1, ddof=1)": lambda x, y: (
        np.std(np.outer(x, y) + y, axis=0, ddof=1) + np.var(np.outer(x, y), axis=1, ddof=1)
    ),
    "np.mean(np.outer(x, y), axis=(0, 1)) * np.average(x, weights=y * y) + np.meshgrid(x, y)[1]": lambda x, y: (
        np.mean(np.outer(x, y)) * np.average(x, weights=y * y) + np.meshgrid(x, y)[1]
    ),
    "np.linalg.eigvalsh(np.eye(6) + np.outer(x, x)) + np.linalg.norm(x, 2)": lambda x, y: (
        np.linalg.eigvalsh(np.eye(6) + np.outer(x, x)) + np.linalg.norm(x)
    ),
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


UNKNOWN = {
    "x[x > 0.0]": "depends on data",
    "np.outer(x, y)[[0, 2]]": "not known",
    "np.linalg.norm(np.outer(x, y), 1)": "order 1 of this norm",
    "np.linalg.norm(x, ord=np.inf)": "order np.inf of this norm",
    "np.linalg.norm(np.outer(x, y), 2)": "order 2 of this norm",
    "np.pad(x, 1, mode='linear_ramp')": "mode='linear_ramp' is not known",
    "np.unique(x)": "call of np.unique",
    "np.random.default_rng(n).random(6)": "call of np.random",
    "np.random.normal(0.0, n, 6)": "call of np.random",
    "np.random.uniform(0.0, n)": "call of np.random",
}


@pytest.mark.parametrize("body", UNKNOWN)
def test_calls_that_are_refused(body):
    """An order was taken for an axis, and a list of rows for the subscripts of one element."""
    source = KERNEL + f"def f(x, y, n):\n    scale[1, 32](x, 2.0)\n    z = {body}\n    return z\n"
    done = pipeline.translate(source, "a.py")
    assert "f" not in done.raised
    assert any(UNKNOWN[body] in d.reason for d in done.diagnostics)


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


STORES = {
    "a row and a column": "z[0, :] = 1.0\nz[:, -1] = z[:, -2]",
    "inner cells": "z[1:-1, 0] = z[1:-1, 1] * 2.0\nz[1:-1, 1:-1] += 0.5",
    "every other": "z[::2] = 0.0\nz[n:, n] = z[n:, 0]",
}


@pytest.mark.parametrize("what", STORES)
def test_stores_to_slices(what):
    lines = ["z = np.outer(x, y)", *STORES[what].split("\n"), "return z"]
    body = "".join(f"    {line}\n" for line in lines)
    done = pipeline.translate(KERNEL + f"def f(x, y, n):\n    scale[1, 32](x, 2.0)\n{body}", "a.py")
    assert "f" in done.raised, [d.reason for d in done.diagnostics]
    f = load_module(done.text).f
    x, y = array(6), array(6, 1)
    space: dict = {"np": np, "z": np.outer(2 * x, y), "n": 2}
    exec(STORES[what], space)
    np.testing.assert_allclose(f(x, y, 2), space["z"], rtol=1e-5)
    agrees(done, f, x=x, y=y, n=2)


def test_a_round_that_goes_on():
    body = (
        "    for k in range(6):\n        if k % 3 == 1:\n            scale[1, 32](x, 0.5)\n            continue\n"
        "        scale[1, 32](y, 2.0)\n        if k == 3: continue\n        x[0] += 1.0\n    return x, y\n"
    )
    done = pipeline.translate(KERNEL + f"def f(x, y):\n{body}", "a.py")
    assert "f" in done.raised, [d.reason for d in done.diagnostics]
    x, y = np.full(3, 4.0, np.float32), np.full(3, 1.0, np.float32)
    found = load_module(done.text).f(x, y)
    np.testing.assert_allclose(found[0], [((4 + 1) / 2 + 1) / 2 + 1, 1, 1])
    np.testing.assert_allclose(found[1], np.full(3, 16.0))


def test_a_copy_of_the_last_round():
    body = (
        "    d = cuda.to_device(x)\n    for k in range(3):\n        scale[1, 32](d, 2.0)\n"
        "        last = d.copy_to_host()\n    scale[1, 32](d, 3.0)\n    return last, d.copy_to_host()\n"
    )
    done = pipeline.translate(KERNEL + f"def f(x):\n{body}", "a.py")
    assert "f" in done.raised, [d.reason for d in done.diagnostics]
    last, end = load_module(done.text).f(np.ones(3, np.float32))
    np.testing.assert_allclose(last, np.full(3, 8))
    np.testing.assert_allclose(end, np.full(3, 24))


def test_what_a_copy_is_made_of_is_an_array():
    """Nothing else tells that ``x`` and ``y`` are arrays."""
    source = (
        KERNEL + "def f(x, y):\n    a, b = x.copy(), y.copy()\n    scale[1, 32](a, 2.0)\n    scale[1, 32](b, 3.0)\n"
    )
    done = pipeline.translate(source + "    return a - b\n", "a.py")
    assert "f" in done.raised, [d.reason for d in done.diagnostics]
    x, y = array(6), array(6) + 1
    np.testing.assert_allclose(load_module(done.text).f(x, y), 2 * x - 3 * y, rtol=1e-6)


STATEMENTS = """
@cuda.jit
def add(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += x[i]

def results(x, y):
    scale[1, 32](x, 2.0)
    ky, kx = np.meshgrid(x, y, indexing="ij")
    best, _, _, _ = np.linalg.lstsq(ky + np.eye(6), y, rcond=None)
    best[0] = best[-1] = 0.5
    return kx * best

def places(x, y):
    scale[1, 32](x, 2.0)
    total = np.zeros(3, dtype=np.float32)
    where = np.array([0, 2, 2, 1, 0, 2])
    np.add.at(total, where, x)
    np.subtract.at(total, where, y)
    return total

def spectrum(x, y):
    n = len(x)
    scale[(n + 31) // 32, 32](x, 2.0)
    return np.fft.irfft(np.fft.rfft(x) * np.fft.rfftfreq(n, d=1.0 / n), n=n)

def matrix(A, y):
    scale[1, 32](y, 2.0)
    return np.dot(A, y)

def steps(x, y):
    s = 0.0
    for T in np.linspace(1.0, 2.0, 3):
        add[1, 32](x, y)
        s += T * y[0]
    for a, b in zip(x, y):
        s += a * b
    return s
"""


def test_statements_of_numpy():
    done = pipeline.translate(KERNEL + STATEMENTS, "a.py")
    module, x, y = load_module(done.text), array(6), array(6, 1)
    assert "ky, kx = jnp.meshgrid(" in done.text and "total.at[where].add(x)" in done.text
    best = np.linalg.solve(2 * x[:, None] + np.eye(6), y)
    best[[0, -1]] = 0.5
    where = np.array([0, 2, 2, 1, 0, 2])
    np.testing.assert_allclose(module.results(x, y), np.tile(y * best, (6, 1)), rtol=1e-3)
    np.testing.assert_allclose(module.places(x, y), np.bincount(where, 2 * x - y), rtol=1e-4)
    spectrum = np.fft.irfft(np.fft.rfft(2 * x) * np.arange(4), n=6)  # n is a number, by its name, too
    np.testing.assert_allclose(module.spectrum(x, y), spectrum, rtol=1e-4, atol=1e-5)
    matrix = np.outer(x, y)  # the sum of all products, if taken for a vector
    np.testing.assert_allclose(module.matrix(matrix, y)[0], matrix @ (2 * y), rtol=1e-5)
    after = y + 3 * x
    s = sum(t * (y + n * x)[0] for t, n in ((1, 1), (1.5, 2), (2, 3)))
    np.testing.assert_allclose(module.steps(x, y)[0], s + x @ after, rtol=1e-5)


def test_a_result_that_is_not_known():
    source = (
        KERNEL + "def f(x, A):\n    scale[1, 32](x, 2.0)\n    a, r, _, _ = np.linalg.lstsq(A, x)\n    return a, r\n"
    )
    done = pipeline.translate(source, "a.py")
    assert any("r, one of the results of np.linalg.lstsq" in d.reason for d in done.diagnostics)


EXTREMES = """
def f(v, low, high):
    scale[1, 32](v, 2.0)
    where = np.array([0, 2, 2, 1, 0, 2])
    np.maximum.at(high, where, v)
    np.minimum.at(low, where, v * v)
    return high - low
"""


def test_the_greater_and_the_lesser_at_places_that_come_twice():
    done = pipeline.translate(KERNEL + EXTREMES, "a.py")
    assert "high.at[where].max(v)" in done.text and "low.at[where].min(" in done.text
    v, low, high = array(6), array(3, 1), array(3, 2)
    greatest, least, where = high.copy(), low.copy(), np.array([0, 2, 2, 1, 0, 2])
    np.maximum.at(greatest, where, 2 * v)
    np.minimum.at(least, where, 4 * v * v)
    module = load_module(done.text)
    np.testing.assert_allclose(module.f(v, low, high), greatest - least, rtol=1e-5)
    agrees(done, module.f, v=v, low=low, high=high)
    same = np.full(6, 0.5, np.float32)  # ties have equal parts
    agrees(done, module.f, v=same, low=np.ones(3, np.float32), high=np.ones(3, np.float32))


def test_products_at_places_that_come_twice_are_refused():
    done = pipeline.translate(KERNEL + EXTREMES.replace("maximum.at", "multiply.at"), "a.py")
    assert "f" not in done.raised and any("multiply.at" in d.reason for d in done.diagnostics)
