"""Sums over windows whose width is known when the function is traced: terms that are slices, not index arrays."""

import re
from types import ModuleType

import numpy as np
import pytest

from kraise import pipeline
from tests.checks import agrees

ONE = """
def f(x, w, y, r):
    n = x.shape[0]
    for i in range(n):
        s = 0.0
        for k in range(-r, r + 1):
            {}
        y[i] = s
"""
BODIES = {
    "cut off at the ends": "s += w[k + r] * x[i + k] if i + k >= 0 and i + k < n else 0.0",
    "beyond its own place": "s += w[k + r] * (x[i + k] - x[i]) ** 2 if 0 <= i + k < n else 0.0",
}


def verified(done, shapes, values):
    agrees(done, pipeline.Request(shapes=shapes, values=values))


def emitted(done):
    module = ModuleType("m")
    exec(done.text, module.__dict__)
    return module


@pytest.mark.parametrize("name", BODIES)
def test_a_radius_that_is_an_argument(name):
    done = pipeline.translate(ONE.format(BODIES[name]), "k.py")
    assert not done.diagnostics
    verified(done, {"x": (7,), "w": (5,), "y": (7,)}, {"r": 2})
    text = done.text[done.text.index("def f(") :]
    assert "dynamic_slice_in_dim" in text and re.search(r"summed\(term, range\(-r, r \+ 1\)\)", text), text


@pytest.mark.parametrize(("n", "r"), [(9, 0), (200, 70), (3, 2)])
def test_few_terms_and_many(n, r):
    """Written out and at once: the same sums, and the same gradients."""
    import jax

    f = emitted(pipeline.translate(ONE.format(BODIES["cut off at the ends"]), "k.py")).f
    rng = np.random.default_rng(0)
    x, w, y = rng.random(n, "f"), rng.random(2 * r + 1, "f"), rng.random(n, "f")
    expected = [np.dot(np.pad(x, r)[i : i + 2 * r + 1], w) for i in range(n)]
    np.testing.assert_allclose(f(x, w, y, r), expected, rtol=1e-5)
    slopes = jax.grad(lambda x, w: (f(x, w, y, r) * y).sum(), argnums=(0, 1))(x, w)
    of_w = [np.dot(np.pad(x, r)[k : k + n], y) for k in range(2 * r + 1)]
    of_x = [np.dot(np.pad(y, r)[i : i + 2 * r + 1], w[::-1]) for i in range(n)]
    np.testing.assert_allclose(slopes[1], of_w, rtol=1e-5)
    np.testing.assert_allclose(slopes[0], of_x, rtol=1e-5)


def test_a_window_without_places_sums_to_nothing():
    source = ONE.format("s += w[k] * x[i + k]").replace("-r, r + 1", "w.shape[0]").replace("x.shape", "y.shape")
    f = emitted(pipeline.translate(source, "k.py")).f
    x = np.ones(4, "f")
    np.testing.assert_array_equal(f(x, x[:0], x, 0), np.zeros(4, "f"))


def test_two_directions_and_narrow_integers():
    source = """
__global__ void blur(const float *in, const unsigned char *mask, float *out, int *count, int w, int h, int r) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float s = 0.f; int c = 0;
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++) {
            if (x + dx < 0 || y + dy < 0 || x + dx >= w || y + dy >= h) continue;
            s += (dx - 2 * dy) * in[(y + dy) * w + x + dx];
            c += mask[(y + dy) * w + x + dx];
        }
    out[y * w + x] = s; count[y * w + x] = c;
}
"""
    done = pipeline.translate(source, "k.cu")
    assert not done.diagnostics
    cells = dict.fromkeys(("in", "mask", "out", "count"), (20,))
    verified(done, cells, {"w": 5, "h": 4, "r": 2})
    text = done.text[done.text.index("def blur") :]
    assert "arange" not in text and text.count("jax.lax.dynamic_slice(") == 2, text
    f = emitted(done).blur
    rng = np.random.default_rng(1)
    image, mask = rng.random(400, "f"), rng.integers(0, 255, 400).astype("uint8")
    for r in (5, 6):  # 13 x 13 terms: an axis of 13 rows
        out, count = f(image, mask, 0 * image, 0 * mask.astype("int32"), 20, 20, r)
        wide, marks = (np.pad(a.reshape(20, 20), r) for a in (image, mask.astype(int)))
        taps = np.arange(-r, r + 1)
        weights = taps - 2 * taps[:, None]
        windows = np.lib.stride_tricks.sliding_window_view
        size = (2 * r + 1, 2 * r + 1)
        np.testing.assert_allclose(out, (windows(wide, size) * weights).sum((2, 3)).ravel(), rtol=1e-4, atol=1e-3)
        np.testing.assert_array_equal(count, windows(marks, size).sum((2, 3)).ravel())


def test_backward_and_in_steps():
    source = """
def f(x, w, y, z, m):
    for i in range(y.shape[0]):
        s = 0.0
        t = 0.0
        for k in range(m):
            s += w[k] * x[m + y.shape[0] - i - k]
            t += w[m - 1 - k] * x[2 * i + k]
        y[i] = s
        z[i] = t
"""
    done = pipeline.translate(source, "k.py")
    assert not done.diagnostics
    verified(done, {"x": (20,), "w": (4,), "y": (7,), "z": (7,)}, {"m": 4})
    text = done.text[done.text.index("def f(") :]
    assert "arange" not in text and "[::-1]" in text and "[::2]" in text, text


def test_a_sum_as_long_as_its_array_is_no_window():
    """Few places of the result, many terms: a term is no slice of the longer array."""
    source = """
def f(x, y):
    n = x.shape[0]
    for lag in range(y.shape[0]):
        s = 0.0
        for i in range(n - lag):
            s += x[i] * x[i + lag]
        y[lag] = s
"""
    done = pipeline.translate(source, "k.py")
    assert "summed" not in done.text
    verified(done, {"x": (9,), "y": (3,)}, {})


EXTREMA = """
__global__ void f(const float *x, float *y, int *at, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float low = x[i], high = -1e30f;
    int place = i;
    for (int k = -3; k <= 3; k++) {
        if (i + k < 0 || i + k >= %s) continue;
        low = fminf(low, x[i + k]);
        if (x[i + k] %s high) { high = x[i + k]; place = i + k; }
    }
    y[i] = high - low;
    at[i] = place;
}
"""


@pytest.mark.parametrize("better", [">", ">="])
def test_extrema_of_one_window_and_where_they_are(better):
    """The array ends at ``n``, where the mask says so: what lies behind is no element of a window."""
    done = pipeline.translate(EXTREMA % ("n", better), "k.cu")
    assert not done.diagnostics
    verified(done, {"x": (12,), "y": (9,), "at": (9,)}, {"n": 9, "m": 9})
    text = done.text[done.text.index("def f(") :]
    assert text.count("windows_m") == 2 and "stacked(term" in text and "[:, None]" not in text, text
    x = np.r_[np.tile([3, 1, 2, 3], 3), 9, 9, 9].astype("f")
    y, at = emitted(done).f(x, 0 * x, 0 * x.astype("int32"), 12, 12)
    expected = []
    for i in range(12):
        window = list(range(max(i - 3, 0), min(i + 4, 12)))
        ordered = window if better == ">" else window[::-1]
        expected.append(max(ordered, key=lambda k: x[k]))
    np.testing.assert_array_equal(at[:12], expected)


def test_another_end_than_that_of_the_places_is_kept():
    """A mask that ends the window at ``m`` where the places go on to ``n``."""
    done = pipeline.translate(EXTREMA % ("m", ">"), "k.cu")
    assert not done.diagnostics
    verified(done, {"x": (12,), "y": (9,), "at": (9,)}, {"n": 9, "m": 6})
