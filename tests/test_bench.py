"""The benchmark against hand-written twins: a twin that computes something else, or has another derivative, fails."""

import jax.numpy as jnp
import numpy as np
import pytest

from tests.bench import emitted


def double(x, y):
    return 2 * x


def triple_slope(x, y):
    """The values of ``double``, another derivative."""
    return 3 * x - jnp.floor(x) + jnp.floor(x) - jnp.asarray(np.linspace(0.0, 1.0, 4), x.dtype)


def compare(monkeypatch, twin):
    rows = []
    monkeypatch.setattr(emitted, "row", lambda *cells: rows.append(cells))
    monkeypatch.setattr(emitted, "ROUNDS", 1)
    x = np.linspace(0.0, 1.0, 4, dtype="f")
    emitted._compare("double", double, twin, None, {"x": x, "y": x})
    return [name for name, *_ in rows]


def test_a_twin_that_agrees_is_measured_twice(monkeypatch):
    assert compare(monkeypatch, lambda x, y: x + x) == ["double", "  gradient"]


@pytest.mark.parametrize(
    "twin",
    [lambda x, y: 2.1 * x, lambda x, y: 2 * x[:3], lambda x, y: (2 * x).astype(jnp.float16), triple_slope],
    ids=["values", "shape", "dtype", "gradient"],
)
def test_a_twin_that_differs_fails(monkeypatch, twin):
    with pytest.raises(AssertionError):
        compare(monkeypatch, twin)


def test_integers_are_compared_exactly():
    a = np.arange(4) + 1_000_000
    emitted.agree(a, a)
    with pytest.raises(AssertionError):
        emitted.agree(a, a + 1)
