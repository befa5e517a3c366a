"""Sums over windows of more than a few cells: a sum of slices that Python runs, not index arrays."""

import re

import pytest

from kraise import pipeline
from tests.checks import agrees

WINDOWS = {
    "a filter": "s += w[k] * x[i + k]",
    "cut off at the ends": "s += w[k] * x[i + k - 5] if i + k - 5 >= 0 and i + k - 5 < n else 0.0",
    "clamped": "s += w[k] * x[min(max(i + k - 5, 0), n - 1)]",
    "differences": "s += (x[i + k] - x[i]) ** 2",
    "strided": "s += x[2 * i + k]",
}


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.long_cases("differences")
def test_a_long_window(name):
    source = f"""
def f(x, w, y, n):
    for i in range(n):
        s = 0.0
        for k in range(11):
            {WINDOWS[name]}
        y[i] = s
"""
    done = pipeline.translate(source, "k.py")
    assert not done.diagnostics
    for n in (7, 1):
        request = pipeline.Request(shapes={"x": (2 * n + 11,), "w": (11,), "y": (n,)}, values={"n": n})
        agrees(done, request)
    if name != "clamped":
        assert re.search(r"sum\(.*for k in range\(11\)\s*\)", done.text, re.S) and "arange" not in done.text, done.text


def test_a_window_in_two_directions_with_weights():
    source = """
def conv(img, ker, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            sum = 0.0
            for a in range(5):
                for b in range(3):
                    sum += img[i + a, j + b] * ker[a, b]
            out[i, j] = 2.0 * sum + sum * sum
"""
    done = pipeline.translate(source, "k.py")
    agrees(done, pipeline.Request(shapes={"img": (9, 8), "ker": (5, 3), "out": (5, 6)}, values={}))
    assert "for a in range(5)" in done.text and "for b in range(3)" in done.text
    assert not re.search(r"^\s+sum = ", done.text, re.M)  # the built-in function keeps its name


def test_a_parameter_named_sum_is_not_shadowed():
    source = """
def f(x, sum, n):
    for i in range(n):
        s = 0.0
        for k in range(11):
            s += x[i + k]
        sum[i] = s
"""
    done = pipeline.translate(source, "k.py")
    agrees(done, pipeline.Request(shapes={"x": (18,), "sum": (7,)}, values={"n": 7}))


@pytest.mark.parametrize("weight, value, rows", [("1.5", "s * s", True), ("1.5", "s", False), ("c", "s * s", False)])
def test_rows_of_a_window_are_added_first_where_the_sum_is_used_twice(weight, value, rows):
    """Not where the slices are filled up once anyway, nor with a weight that has a gradient of its own."""
    source = f"""
def f(x, y, c):
    h, w = x.shape
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            s = 0.0
            for a in range(-1, 2):
                for b in range(-1, 2):
                    s += {weight} * x[i + a, j + b]
            y[i, j] = {value}
"""
    done = pipeline.translate(source, "k.py")
    for size in (5, 2):
        request = pipeline.Request(shapes={"x": (size, 6), "y": (size, 6)}, values={"c": 0.5})
        agrees(done, request)
    assert ("[:, " in done.text) == rows, done.text


LAYER = """__global__ void conv(const float *im, const float *k, float *out, int H, int W, int K, int S, int P,
                                int OH, int OW) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= OW || y >= OH) return;
    float s = 0;
    for (int i = 0; i < K; i++)
        for (int j = 0; j < K; j++) {
            int h = PLACE_Y, w = PLACE_X;
            if (GUARD) s += k[i * K + j] * im[h * W + w];
        }
    out[y * OW + x] = s;
}"""
INSIDE = "h >= 0 && h < H && w >= 0 && w < W"
LAYERS = {
    "any stride and padding": ("y * S + i - P", "x * S + j - P", INSIDE, True),
    "stride 2": ("2 * y + i - 1", "2 * x + j - 1", INSIDE, True),
    "dilated": ("y + 2 * i - P", "x + 2 * j - P", INSIDE, False),
    "backwards": ("y * S - i + P", "x * S - j + P", INSIDE, False),
}
SIZES = [  # H, W, K, S, P, OH, OW: as wide as the picture, wider than its padding, narrower than it, no window at all
    (6, 7, 3, 1, 1, 6, 7),
    (4, 5, 3, 2, 4, 6, 9),
    (9, 8, 2, 3, 0, 2, 2),
    (3, 3, 0, 2, 1, 2, 2),
    (5, 6, 5, 2, 2, 3, 1),
]


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.long_cases("stride 2")
def test_a_layer_whose_sizes_are_its_arguments(name):
    up, across, guard, slices = LAYERS[name]
    source = LAYER.replace("PLACE_Y", up).replace("PLACE_X", across).replace("GUARD", guard)
    done = pipeline.translate(source, "k.cu")
    assert done.text and not done.diagnostics
    if slices:
        assert "dynamic_slice" in done.text and "arange(OH" not in done.text and "clip" not in done.text, done.text
    for h, w, k, s, p, oh, ow in SIZES:
        request = pipeline.Request(
            shapes={"im": (h * w,), "k": (k * k,), "out": (oh * ow,)},
            values={"H": h, "W": w, "K": k, "S": s, "P": p, "OH": oh, "OW": ow},
        )
        agrees(done, request, (h, w, k, s, p, oh, ow))


SPREAD = {  # steps of a window's places, what is made of its elements and what stands outside of the array
    "a product": "s = s * (x[i + 2 * k - 2] if 0 <= i + 2 * k - 2 < n else 3.0)",
    "the largest": "s = max(s, x[i + 3 * k - 3] if 0 <= i + 3 * k - 3 < n else 5.0)",
    "the smallest, of every other": "s = min(s, x[2 * i + 2 * k - 3] if 0 <= 2 * i + 2 * k - 3 < n else -5.0)",
    "to and fro": "s = max(s, x[i + (k if k % 2 else -k)] if 0 <= i + (k if k % 2 else -k) < n else 2.0)",
}


@pytest.mark.parametrize("name", SPREAD)
def test_what_stands_beyond_the_ends_of_a_spread_window(name):
    """It was forgotten (0 stood there) where the terms are made one by one."""
    source = f"""
def f(x, y, n):
    for i in range(n):
        s = 1.0
        for k in range(3):
            {SPREAD[name]}
        y[i] = s
"""
    done = pipeline.translate(source, "k.py")
    for n in (5, 1):
        agrees(done, pipeline.Request(shapes={"x": (n,), "y": (n,)}, values={"n": n}))
