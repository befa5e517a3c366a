"""Places that go round: stores of rolled values, rows that tables move, and what stays index arrays."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

HEAD = "EX = (0, 1, -2)\nEY = (2, 0, -1)\ndef f(x, y, by):\n q3, n, m = x.shape\n"
EACH = " for q in range({}):\n  for i in range({}):\n   for j in range(m):\n    {}\n"
ROLLED = {
    "stores by tables": ("3", "n", "y[q, (i + EX[q]) % n, (j - EY[q]) % m] = 2 * x[q, i, j]"),
    "loads by tables": ("3", "n", "y[q, i, j] = x[q, (i - EX[q] + n) % n, (j + 2 * EY[q]) % m] + i"),
    "of one axis": ("3", "n", "y[q, i, (j + EY[q]) % m] = x[q, i, j]"),
    "of the first rows": ("2", "n", "y[q, (i + EX[q]) % n, j] = x[q, i, j]"),
    "stores by numbers": ("q3", "n", "y[q, (i + 1) % n, (j - 2) % m] = x[q, i, j] * q"),
}
OTHERS = {
    "by data": ("3", "n", "y[q, (i + by[q]) % n, j] = x[q, i, j]"),
    "of a part": ("3", "n - 1", "y[q, (i + EX[q]) % n, j] = x[q, i, j]"),
    "where it is more": ("3", "n", "if x[q, i, j] > 0:\n     y[q, (i + EX[q]) % n, j] = x[q, i, j]"),
    "the table of another index": ("3", "n", "y[q, i, j] = x[q, (i + EX[j % 3]) % n, j]"),
}


@pytest.mark.parametrize("name", [*ROLLED, *OTHERS])
def test_values(name):
    source = HEAD + EACH.format(*(ROLLED | OTHERS)[name])
    done = pipeline.translate(source, "k.py")
    assert done.text is not None, done.diagnostics
    assert ("jnp.roll(" in done.text and "arange(3)" not in done.text) == (name in ROLLED), done.text
    own: dict = {}
    exec(source, own)
    mine = load_module(done.text).f
    rng = np.random.default_rng(0)
    for size in (3, 4, 5), (3, 1, 1):
        x, y = rng.standard_normal((2, *size)).astype("f")
        by = np.array([1, 0, 2], "i")
        expected = y.copy()
        own["f"](x, expected, by)
        np.testing.assert_allclose(mine(x, y, by), expected, rtol=1e-6)
    assert mine(np.zeros((3, 0, 2), "f"), np.zeros((3, 0, 2), "f"), by).shape == (3, 0, 2)


def test_a_gradient_goes_back_round():
    mine = load_module(pipeline.translate(HEAD + EACH.format(*ROLLED["stores by tables"]), "k.py").text).f
    weight = np.arange(60.0, dtype="f").reshape(3, 4, 5)
    zero = jnp.zeros((3, 4, 5))
    slope = jax.grad(lambda x: jnp.vdot(mine(x, zero, np.zeros(3, "i")), weight))(zero)
    back = [np.roll(weight[q], (-a, b), (0, 1)) for q, (a, b) in enumerate(zip((0, 1, -2), (2, 0, -1), strict=True))]
    np.testing.assert_array_equal(slope, 2 * np.stack(back))
