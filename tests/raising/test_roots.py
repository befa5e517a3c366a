"""Roots of sums of squares are taken of their extremum, where there is one, and of nothing that may be negative."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

SQUARES = "(x[i] - x[j]) ** 2 + x[j] ** 2"


@pytest.mark.parametrize(
    "rounds, value, outside",
    [("n", SQUARES, True), ("n", "x[i] * x[j] + 9.0", False), ("m", SQUARES, False), ("i", SQUARES, False)],
)
def test_largest_root(rounds, value, outside):
    source = f"""import math

def f(x, y, n, m):
    for i in range(n):
        most = 0.0
        for j in range({rounds}):
            d = math.sqrt({value})
            if d > most:
                most = d
        y[i] = most
"""
    text, own = pipeline.translate(source, "k.py").text, {}
    assert text is not None and ("sqrt(max_j" in text) == outside, text
    exec(source, own)
    f = load_module(text).f
    for x, m in (([0.5, -1.0, 2.0, 0.0, 0.3], 4), ([0.5, -1.0, 2.0], 0), ([0.0, 0.0], 2)):
        x, expected = np.asarray(x, "f"), np.zeros(len(x))
        own["f"](x, expected, len(x), m)
        np.testing.assert_allclose(f(x, expected, len(x), m), expected, rtol=1e-5)
        if len(x):
            slope = jax.grad(lambda x: f(x, expected, len(x), m).sum())(x)  # noqa: B023
            assert np.isfinite(slope).all()
