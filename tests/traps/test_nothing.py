"""Extrema of nothing: a size of zero leaves the start, with its derivative, in either mode."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

SOURCE = """
import math

def leading(x, y, k):
    n = x.shape[0]
    for i in range(n):
        best = 0.5
        for j in range(min(k, n)):
            best = max(best, x[j] * (i + 1))
        y[i] = best

def trailing(x, y, k):
    n = x.shape[0]
    for i in range(n):
        best = x[0]
        for j in range(k, n):
            if x[j] > 0.0:
                best = min(best, x[j] * (i + 1))
        y[i] = best

def rows(x, y, n, m):
    for i in range(n):
        best = -math.inf
        for j in range(m):
            best = max(best, x[i, j])
        y[i] = best if m > 0 else 0.0

def inner(x, y):
    for i in range(y.shape[0]):
        least = 1e30
        for j in range(1, x.shape[0] - 1):
            least = min(least, x[j] * (i + 1))
        y[i] = least if least < 1e30 else x[i]
"""
TYPED = """
void largest(const double *x, double *y, int n) {
    double m = 0.0;
    for (int i = 0; i < n; i++) m = fmax(m, fabs(x[i]));
    y[0] = m * y[0];
}
"""
X = np.array([0.3, -1.0, 2.0, 0.7])


@pytest.fixture(scope="module")
def module():
    return load_module(pipeline.translate(SOURCE, "nothing.py").text)


def derivatives(function, *given):
    """The derivatives of the sum of an output, by both modes."""
    tangents = tuple(np.ones_like(v) for v in given)
    _, along = jax.jvp(lambda *v: jnp.sum(function(*v)), given, tangents)
    slopes = jax.grad(lambda *v: jnp.sum(function(*v)), argnums=tuple(range(len(given))))(*given)
    assert float(along) == pytest.approx(float(sum(jnp.sum(s) for s in slopes)))
    return slopes


@pytest.mark.parametrize(
    ("k", "value", "slope"), [(0, [0.5] * 4, [0.0] * 4), (1, [0.5, 0.6, 0.9, 1.2], [9.0, 0, 0, 0])]
)
def test_leading_cells(module, k, value, slope):
    with jax.enable_x64(True):
        np.testing.assert_allclose(module.leading(X, np.zeros(4), k), value)
        np.testing.assert_allclose(derivatives(lambda x: module.leading(x, jnp.zeros(4), k), X)[0], slope)


@pytest.mark.parametrize(("k", "value", "slope"), [(4, [0.3] * 4, [4.0, 0, 0, 0]), (2, [0.3] * 4, [4.0, 0, 0, 0])])
def test_trailing_cells_behind_a_mask(module, k, value, slope):
    with jax.enable_x64(True):
        np.testing.assert_allclose(module.trailing(X, np.zeros(4), k), value)
        np.testing.assert_allclose(derivatives(lambda x: module.trailing(x, jnp.zeros(4), k), X)[0], slope)


@pytest.mark.parametrize("m", [0, 1, 2])
def test_rows_without_a_cell(module, m):
    x = np.array([[1.0, 2.0], [4.0, 3.0]])
    with jax.enable_x64(True):
        np.testing.assert_allclose(
            module.rows(x, np.ones(2), 2, m), [x[i, :m].max(initial=-np.inf) * (m > 0) if m else 0 for i in (0, 1)]
        )
        slope = derivatives(lambda x: module.rows(x, jnp.ones(2), 2, m), x)[0]
        assert np.isfinite(slope).all() and slope.sum() == (2.0 if m else 0.0)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_inner_cells_of_a_short_array(module, size):
    x = X[::-1][:size].copy()
    slopes = np.eye(size)[0] if size < 3 else np.eye(size)[np.argmin(x[1:-1]) + 1]
    with jax.enable_x64(True):
        np.testing.assert_allclose(module.inner(x, np.zeros(1)), x @ slopes)
        np.testing.assert_allclose(derivatives(lambda x: module.inner(x, jnp.zeros(1)), x)[0], slopes)


def test_typed_extremum_of_nothing_has_a_tangent():
    module = load_module(pipeline.translate(TYPED, "nothing.c").text)
    with jax.enable_x64(True):
        for n, slopes in ((0, ([0, 0, 0, 0], 0.0)), (4, ([0, 0, 3.0, 0], 2.0))):
            by_x, by_y = derivatives(lambda x, y, n=n: module.largest(x, y, n), X, np.array([3.0]))
            np.testing.assert_allclose(by_x, slopes[0])
            np.testing.assert_allclose(by_y, [slopes[1]])
