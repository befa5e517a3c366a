"""A value that was stored, beside loads of its neighbours: a load, too, of what the array holds."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

TWO = """
def f(u, v, r):
    n = u.shape[0]
    for i in range(1, n - 1):
        v[i] = u[i] + r * (u[i - 1] + u[i + 1])
    for i in range(1, n - 1):
        u[i] = %s
"""


def _reference(u, v, r):
    u, v = u.copy(), v.copy()
    v[1:-1] = u[1:-1] + r * (u[:-2] + u[2:])
    u[1:-1] = v[1:-1] + r * (v[:-2] + v[2:])
    return u, v


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_an_array_of_another_type_holds_less(kind):
    """What the second loop loads is rounded to the type of the array that it was stored to."""
    done = pipeline.translate(TWO % "v[i] + r * (v[i - 1] + v[i + 1])", "k.py")
    assert "v[i] + r * (v[i - 1] + v[i + 1])  for" in done.text and "_new" not in done.text, done.text
    u = np.random.default_rng(0).random(9).astype("float32")
    v = np.zeros(9, kind)
    for a, b in zip(load_module(done.text).f(u, v, np.float32(0.3)), _reference(u, v, np.float32(0.3)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_without_its_neighbours_it_is_the_value():
    text = pipeline.translate(TWO % "2 * v[i] + v[i] * v[i]", "k.py").text
    assert "v_new" in text, text
