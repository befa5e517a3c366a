"""Windows of a width that is an argument, clamped to their array or going round it: slices of a padded array."""

import numpy as np
import pytest

from kraise import pipeline
from tests.checks import agrees

SOURCE = """
def f(x, w, y, r{more}):
    n = x.shape[0]
    for i in range(n):
        s = 0.0
        for k in range(-r, r + 1):
            s += w[k + r] * x[{place}]
        y[i] = s
"""
PLACES = {
    "edge": "min(max(i + k, 0), n - 1)",
    "wrap": "(i + k + n) % n",
}


def verified(done, shapes, values):
    agrees(done, pipeline.Request(shapes=shapes, values=values))


def text_of(done):
    assert not done.diagnostics
    return done.text[done.text.index("def f(") :]


@pytest.mark.parametrize("mode", PLACES)
def test_a_radius_that_is_an_argument(mode):
    done = pipeline.translate(SOURCE.format(place=PLACES[mode], more=""), "k.py")
    assert f'jnp.pad(x, r, mode="{mode}")' in text_of(done) and "arange" not in text_of(done), done.text
    for n, r in ((7, 2), (2, 3)):  # wider than the array, too
        verified(done, {"x": (n,), "w": (2 * r + 1,), "y": (n,)}, {"r": r})


@pytest.mark.parametrize("mode", PLACES)
def test_a_shift_that_is_no_size_stays_traced(mode):
    done = pipeline.translate(SOURCE.format(place=PLACES[mode].replace("i + k", "i + k + c"), more=", c"), "k.py")
    assert 'static_argnames="r"' in done.text and "mode=" not in text_of(done), done.text
    verified(done, {"x": (7,), "w": (5,), "y": (7,)}, {"r": 2, "c": 1})


def test_a_round_of_which_only_a_part_is_an_array():
    """``x`` may end before ``n``: the places from 2 on are all within it."""
    source = """
def f(x, y, n, m):
    for i in range(y.shape[0]):
        s = 0.0
        for k in range(m):
            s += x[(i + k + 2) % n]
        y[i] = s
"""
    done = pipeline.translate(source, "k.py")
    verified(done, {"x": (9,), "y": (4,)}, {"n": 50, "m": 3})
    assert "mode=" not in text_of(done)


def test_clamps_by_branches_and_two_directions():
    source = """
__global__ void f(const float *in, float *out, int w, int h, int r) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float s = 0.f;
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++) {
            int a = x + dx, b = y + dy;
            if (a < 0) a = 0;
            if (a > w - 1) a = w - 1;
            b = min(max(b, 0), h - 1);
            s += in[b * w + a];
        }
    out[y * w + x] = s / ((2 * r + 1) * (2 * r + 1));
}
"""
    done = pipeline.translate(source, "k.cu")
    assert 'mode="edge"' in text_of(done) and "arange" not in text_of(done), done.text
    verified(done, {"in": (20,), "out": (20,)}, {"w": 5, "h": 4, "r": 2})
    namespace = {}
    exec(done.text, namespace)
    nothing = np.ones(0, "f")
    assert namespace["f"](nothing, nothing, 0, 4, 2).shape == (0,)
