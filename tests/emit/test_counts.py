"""How many places of a window are within bounds is a difference of these, not a sum over a mask."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

SOURCE = """
def f(x, y, c, r, s):
    n = x.shape[0]
    for i in range(n):
        count = 0
        for k in range(-r, r + 1):
            {test}
                count += 1
        c[i] = count
        y[i] = x[i] / (count + 1)
"""
TESTS = {
    "a window": "if i + k >= 0 and i + k < n:",
    "backward": "if i - k >= 0 and i - k < n and k > -s:",
    "none of some": "if i + k > s and i + k <= n - s:",
}


def verified(source, shapes, values, name="k.py"):
    done = pipeline.translate(source, name)
    assert not [d for d in done.diagnostics if d.severity == "error"], done.diagnostics
    agrees(done, pipeline.Request(shapes=shapes, values=values))
    return done.text


@pytest.mark.parametrize("name", TESTS)
def test_bounds_of_one_index(name):
    text = verified(SOURCE.format(test=TESTS[name]), {"x": (7,), "y": (7,), "c": (7,)}, {"r": 2, "s": 3})
    assert "jnp.minimum" in text and "jnp.sum" not in text, text


@pytest.mark.parametrize("test", ["if x[i] > k:", "if (i + k) % 2 == 0:", "if i + 2 * k < n:", "if i + k != 2:"])
def test_other_conditions_are_summed(test):
    text = verified(SOURCE.format(test=test), {"x": (7,), "y": (7,), "c": (7,)}, {"r": 2, "s": 3})
    assert "sum" in text


def test_two_conditions_that_both_hold_are_two():
    """JAX's sum of two conditions is whether any of them holds."""
    source = """
def f(x, y, low, high):
    for i in range(x.shape[0]):
        y[i] = (1 if x[i] > low else 0) + (1 if x[i] > high else 0)
"""
    verified(source, {"x": (9,), "y": (9,)}, {"low": -0.9, "high": -0.5})


def test_two_directions_are_a_product():
    source = """
__global__ void f(const unsigned char *in, float *out, int w, int h, int r) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int s = 0; unsigned c = 0;
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++) {
            if (x + dx < 0 || y + dy < 0 || x + dx >= w || y + dy >= h) continue;
            s += in[(y + dy) * w + x + dx]; c++;
        }
    out[y * w + x] = (float)s / c;
}
"""
    text = verified(source, {"in": (20,), "out": (20,)}, {"w": 5, "h": 4, "r": 2}, "k.cu")
    assert text.count("jnp.minimum") == 2, text


@pytest.mark.parametrize(("bin", "turned"), [("a[y, x]", False), ("a[y, x] + b[x, y]", True), ("a[0, x] + y", False)])
def test_places_are_scattered_in_the_order_in_which_they_are_loaded(bin, turned):
    source = (
        "def f(a, b, h):\n    for x in range(a.shape[1]):\n        for y in range(a.shape[0]):\n"
        f"            h[{bin}] += 1\n"
    )
    done = pipeline.translate(source, "k.py")
    assert (".T" in done.text) == turned, done.text
    own: dict = {}
    exec(source, own)
    a, b, h = np.arange(6).reshape(3, 2) % 4, np.arange(6).reshape(2, 3) % 3, np.zeros(9, int)
    own["f"](a, b, h)
    np.testing.assert_array_equal(load_module(done.text).f(a, b, 0 * h), h)
