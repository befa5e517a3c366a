"""A power by squaring is one power, of the same values; loops that only look like one stay loops."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

SOURCE = """
def f(x, y, m, n):
    for i in range(len(x)):
        result = {start}
        base = x[i]
        k = {first}
        while k > 0:
            if k & {bit}:
                result = {product}
            base = {square}
            k >>= 1
        y[i] = {out}
"""
PLAIN = {"start": "1.0", "first": "m", "bit": "1", "product": "result * base", "square": "base * base", "out": "result"}
POWERS = {"plain": {}, "turned": {"product": "base * result"}, "used": {"out": "3 * result - x[i]"}}
OTHERS = {
    "begins elsewhere": {"start": "2.0"},
    "the last square": {"out": "result + base"},
    "the second bit": {"bit": "2"},
    "not squared": {"square": "base + base"},
    "a remainder": {"product": "result * base % 7"},
    "other bits": {"first": "m + n"},
}


@pytest.mark.parametrize("name", [*POWERS, *OTHERS])
def test_by_squaring(name):
    source = SOURCE.format(**(PLAIN | (POWERS | OTHERS)[name]))
    done = pipeline.translate(source, "k.py")
    assert done.text is not None, done.diagnostics
    powers = [line for line in done.text.split("\n") if "** max(0, m" in line]
    assert len(powers) == (name in POWERS or name == "other bits"), done.text
    mine, own = load_module(done.text).f, {}
    exec(source, own)
    x = np.array([0.0, 1.25, -0.5, 2.0], "float32")
    for m in (0, 1, 6, -3):
        y = np.zeros(4, "float32")
        own["f"](x, y, m, 2)
        np.testing.assert_allclose(mine(x, 0 * x, m, 2), y, rtol=1e-6)
    if name == "plain":
        slope = jax.grad(lambda x: mine(x, 0 * x, 3, 0).sum())(jnp.asarray(x))
        np.testing.assert_allclose(slope, 3 * x**2, rtol=1e-6)


@pytest.mark.parametrize(
    ("load", "diagonal"), [("A[i, i]", True), ("A[i + 1, i + 1]", True), ("A[i, i + 1]", False), ("A[n - i, i]", False)]
)
@pytest.mark.parametrize("update", ["x[i] = {}", "x[i + 1] = x[i] * {}"])
def test_down_a_matrix(load, diagonal, update):
    source = f"def f(A, x):\n    n = A.shape[0] - 1\n    for i in range(n):\n        {update.format(load)}\n"
    done = pipeline.translate(source, "k.py")
    assert ("jnp.diagonal" in done.text) == diagonal, done.text
    own = {}
    exec(source, own)
    A, x = np.arange(16.0, dtype="float32").reshape(4, 4) + 1, np.ones(4, "float32")
    got = load_module(done.text).f(A, x)
    own["f"](A, x)
    np.testing.assert_allclose(got, x)
