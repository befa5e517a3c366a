"""Sums of what may be bytes or booleans, as NumPy has them: terms are of the sum's own type before they meet."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

START = "import numpy as np\ndef f(a, b, p):\n n = len(a)\n {}\n for i in range(n):\n  {}\n return {}\n"
FLOATS = {  # the start, each round, what the text holds
    "two terms": ("c = 0.0", "c += a[i]; c += b[i]", "jnp.sum(1.0 * a + b["),
    "a difference": ("c = 0.0", "c += a[i]; c -= b[i]", "jnp.sum(1.0 * a - b["),
    "less": ("c = 0.0", "c -= a[i]", "-1.0 * a.sum()"),
    "less twice": ("c = 2.0", "c -= a[i]; c -= b[i]", "-1.0 * a - b["),
    "a factor": ("c = 0.0", "c += 0.5 * a[i] * b[i]", "0.5 * ((1.0 * a) @ b["),
    "the factor one": ("c = 0.0", "c += 1.0 * a[i] * b[i]", "(1.0 * a) @ b["),
    "a parameter": ("c = 0.0", "c += p * a[i] * b[i]", "p * ((1.0 * a) @ b["),
    "running": ("c = np.zeros(n); s = 0.0", "s += a[i]; c[i] = s", "cumsum(1.0 * a)"),
    "sums so far": ("c = np.zeros(n)", "s = 0.0\n  for k in range(i + 1):\n   s += a[k]\n  c[i] = s", "sum(1.0 * a)"),
    "cells": ("c = np.zeros(n)", "c[i] -= a[i]; c[i] += b[i]", "(-1.0 * a + b["),
    "stored cells": ("c = b * 1.0", "c[i] -= a[i]; c[i] -= b[i]", " - a - b["),
}
COUNTS = {
    "two comparisons": ("c = 0", "c += a[i] > 3; c += b[i] > 200"),
    "a comparison less": ("c = 0", "c += a[i] > 3; c -= b[i] > 200"),
    "one under the other": ("c = 0", "c += a[i] > 3\n  if b[i] > 9:\n   c += b[i] < 200"),
    "in cells": ("c = np.zeros(n, dtype=np.int64)", "c[i] += a[i] > 3; c[i] += b[i] > 9"),
    "stored numbers": ("c = 0; t = np.zeros(n, dtype=np.bool_)", "t[i] = a[i] & 6; c += t[i]; c += t[i] * a[i] > 99"),
    "booleans": ("c = 0", "c += p[i]; c += p[n - 1 - i]"),
}
A, B = np.array([250, 7, 201, 90, 255], "uint8"), np.array([9, 251, 240, 16, 3], "uint8")
P = np.array([True, True, False, True, True])


def _twice(start, each, p):
    """What was translated, and both results."""
    source = START.format(start, each, "c")
    done = pipeline.translate(source, "k.py")
    assert done.text, done.diagnostics
    own: dict = {}
    exec(source, own)  # noqa: S102
    return done.text, load_module(done.text).f, own["f"](A, B, p)


@pytest.mark.parametrize("name", FLOATS)
def test_a_float_sums_bytes_as_floats(name):
    start, each, form = FLOATS[name]
    text, f, expected = _twice(start, each, 1.5)
    assert form in text, text
    np.testing.assert_allclose(f(A, B, 1.5), expected, rtol=1e-6)
    small = jax.ShapeDtypeStruct((5,), np.float32)
    assert name in ("running", "sums so far", "cells") or jax.eval_shape(f, small, small, 1.5).dtype == np.float32
    x, y = A.astype(np.float32), B.astype(np.float32)
    slope = jax.grad(lambda a: f(a, y, 1.5).sum())(x)
    each_less = {"less": -1, "less twice": -1, "cells": -1, "stored cells": -1, "running": None, "sums so far": None}
    expected = each_less.get(name, 1)
    if "*" in each:
        expected = y * {"a factor": 0.5, "the factor one": 1.0}.get(name, 1.5)
    np.testing.assert_allclose(slope, np.arange(5, 0, -1) if expected is None else np.full(5, expected))


@pytest.mark.parametrize("name", COUNTS)
def test_two_booleans_count_two(name):
    _, f, expected = _twice(*COUNTS[name], P)
    np.testing.assert_array_equal(f(A, B, P), expected)


def test_floats_whose_type_is_known_are_added_as_they_are():
    done = pipeline.translate(
        "__global__ void f(float *y, const float *a, const float *b, int n) {\n int i = threadIdx.x;\n"
        " float c = 0; for (int k = 0; k < n; k++) { c += a[k]; c -= b[k]; }\n y[i] = c;\n}",
        "k.cu",
    )
    assert "1.0 *" not in done.text and "a[:n] - b[:n]" in done.text, done.text
