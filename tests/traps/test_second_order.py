"""``jax.hessian`` and ``jax.jacfwd`` at points that hurt, against differences of a scalar program's derivative."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.traps.scalar import Program

SOURCE = """
import math


def clamped(x, y, n):
    for i in range(n):
        y[i] = max(x[i], 0.0) ** 1.5 + min(x[i], 0.0) ** 2 + math.sqrt(max(x[i] - 1.0, 0.0)) ** 3


def unit(x, y, n):
    for i in range(n):
        r = math.sqrt(x[i] * x[i] + x[n + i] * x[n + i])
        y[i] = x[i] / r if r > 0.0 else 0.0


def pairs(x, y, n):
    for i in range(n):
        s = 0.0
        for j in range(n):
            if x[j] != x[i]:
                s += math.log(abs(x[i] - x[j]))
        y[i] = s


def rounds(x, y, n):
    for i in range(n):
        v = x[i]
        for k in range(6):
            if v < 0.2:
                break
            v = v - 0.3 * math.sqrt(v)
        y[i] = math.log(v) if v > 0.0 else v
"""
POINTS = {
    "clamped": [0.7, -0.4, -2.0, 3.0],
    "unit": [0.0, 3.0, -0.2, 0.0, 0.0, 4.0, 0.5, -1.0],
    "pairs": [0.5, 2.0, 0.5, -1.0],
    "rounds": [0.1, 3.0, -1.0, 0.9],
}
STEP = 1e-6


@pytest.fixture(scope="module")
def both():
    return load_module(pipeline.translate(SOURCE, "second.py").text), Program(SOURCE)


@pytest.mark.parametrize("name", POINTS)
def test_hessian_is_the_difference_of_the_program_s_gradients(both, name):
    module, program = both
    n, at = 4, np.array(POINTS[name])

    def gradient(x):
        # ties and zeros stay what they are: only what is not at a branch is moved
        return program.gradient(name, {"x": x, "y": np.zeros(n), "n": n}, None, np.ones)[1]["x"]

    with jax.enable_x64(True):
        loss = lambda x: getattr(module, name)(x, jnp.zeros(n), n).sum()  # noqa: E731
        hessian = jax.jit(jax.hessian(loss))(jnp.asarray(at))
        forward = jax.jit(jax.jacfwd(loss))(jnp.asarray(at))
    assert np.isfinite(hessian).all()
    np.testing.assert_allclose(forward, gradient(at), rtol=1e-9, atol=1e-12)
    for k in range(len(at)):
        if name != "pairs" and at[k] != 0.0:
            step = np.eye(len(at))[k] * STEP
            rows = (gradient(at + step) - gradient(at - step)) / (2 * STEP)
            np.testing.assert_allclose(hessian[k], rows, rtol=1e-5, atol=1e-5)


POWERS = """
def power(x, k, y):
    for i in range(x.shape[0]):
        y[i] = x[i] ** k


def powers(x, p, y):
    for i in range(x.shape[0]):
        y[i] = x[i] ** p[i]
"""


@pytest.mark.parametrize("number", [int, float])
@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_powers_at_zero(k, number):
    """At ``0**1`` the second derivative of ``x**k`` is zero, ``0 * 0**-1`` to JAX, whoever counts."""
    module = load_module(pipeline.translate(POWERS, "powers.py").text)
    x = np.array([0.0, 1.5])
    slope = k * x ** max(k - 1, 0)
    curve = k * (k - 1) * x ** max(k - 2, 0)
    with jax.enable_x64(True):
        every = jnp.full(2, number(k), int if number is int else float)
        for f in (lambda x: module.power(x, number(k), 0 * x).sum(), lambda x: module.powers(x, every, 0 * x).sum()):
            np.testing.assert_allclose(f(x), (x**k).sum())
            np.testing.assert_allclose(jax.grad(f)(jnp.asarray(x)), slope)
            np.testing.assert_allclose(jnp.diagonal(jax.hessian(f)(jnp.asarray(x))), curve)
            np.testing.assert_allclose(jnp.diagonal(jax.jacrev(jax.grad(f))(jnp.asarray(x))), curve)
