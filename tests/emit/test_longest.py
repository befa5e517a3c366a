"""Rows run side by side count rounds to the longest; where a lane's own counter matters they ask all lanes."""

import numpy as np
import pytest

from kraise import pipeline

SOURCE = """
from numba import cuda

@cuda.jit
def f(ptr, c, x, y, z):
    i = cuda.grid(1)
    if i < x.shape[0]:
        v, w = 0.5, 0.0
        k = ptr[i]
        while {test}:
            {body}
        y[i] = v
        z[i] = {out}
"""
HORNER = "v = v * x[i] + c[k]; w = w * v + 1.0; k += 1"
COUNTED = {
    "two states": ("k < ptr[i + 1]", HORNER, "w"),
    "the counter is read": ("k < ptr[i + 1]", HORNER, "k"),
    "the first number": ("k < ptr[i + 1]", HORNER.replace("+ 1.0", "+ ptr[i]"), "w"),
}
ASKED = {
    "steps of two": ("k < ptr[i + 1]", HORNER.replace("k += 1", "k += 2"), "w"),
    "another exit": ("k < ptr[i + 1] and w < 3.0", HORNER, "w"),
}


def by_hand(test, body, out, ptr, c, x):
    y, z = np.zeros(len(x), "f"), np.zeros(len(x), "f")
    for i in range(len(x)):
        scope = {"v": 0.5, "w": 0.0, "k": ptr[i], "ptr": ptr, "c": c, "x": x, "i": i}
        while eval(test, scope):
            exec(body, scope)
        y[i], z[i] = scope["v"], eval(out, scope)
    return y, z


@pytest.mark.parametrize("what", [*COUNTED, *ASKED])
def test_rows_side_by_side(what):
    test, body, out = (COUNTED | ASKED)[what]
    lines = body.replace("; ", "\n            ")
    done = pipeline.translate(SOURCE.format(test=test, body=lines, out=out), "k.py")
    assert done.text is not None, done.diagnostics
    assert ("longest = jnp.max(" in done.text, ".any()" in done.text) == (what in COUNTED, what in ASKED)
    scope = {}
    exec(done.text, scope)
    c = np.array([1.5, -1, 2, 0.5, 3, -2], "f")
    for ptr in ([0, 3, 3, 5], [2, 2, 2, 2], [0, 6], [0]):
        n = len(ptr) - 1
        x = np.array([0.5, -1, 2], "f")[:n]
        zeros = np.zeros(n, "f")
        found = scope["f"](np.array(ptr, "i"), c, x, zeros, zeros)
        for a, b in zip(found, by_hand(test, body, out, ptr, c, x), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)


def test_its_gradient():
    import jax

    done = pipeline.translate(SOURCE.format(test="k < ptr[i + 1]", body="v = v * x[i] + c[k]; k += 1", out="v"), "k.py")
    scope = {}
    exec(done.text, scope)
    ptr, zeros = np.array([0, 3, 3, 5], "i"), np.zeros(3, "f")
    c, x = np.array([1.5, -1, 2, 0.5, 3], "f"), np.array([0.5, -1, 2], "f")
    found = jax.grad(lambda c, x: scope["f"](ptr, c, x, zeros, zeros)[0].sum(), (0, 1))(c, x)
    np.testing.assert_allclose(found[0], [0.25, 0.5, 1, 2, 1])
    np.testing.assert_allclose(found[1], [3 * 0.5 * 0.25 + 2 * 1.5 * 0.5 - 1, 0, 2 * 0.5 * 2 + 0.5])
