"""Extrema and counts over windows in one call, whatever the stride, the radius and the borders."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module
from tests.checks import agrees, verified

HEAD = "from numba import cuda\nimport math\n\n\n@cuda.jit\n"
POOL = """def pool(x, y, k, s):
    i, j = cuda.grid(2)
    if i < y.shape[0] and j < y.shape[1]:
        m = -math.inf
        for a in range(k):
            for b in range(k):
                m = max(m, x[i * s + a, j * s + b])
        y[i, j] = m
"""
DILATE = """def dilate(x, y, r):
    i, j = cuda.grid(2)
    n, m = x.shape
    if i < n and j < m:
        low = x[i, j]
        for a in range(-r, r + 1):
            for b in range(-r, r + 1):
                if 0 <= i + a < n and 0 <= j + b < m:
                    low = min(low, x[i + a, j + b])
        y[i, j] = low
"""
COUNT = """
__global__ void count(const unsigned char *img, int *out, int h, int w, int r) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int cnt = 0;
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++) {
            int yy = y + dy, xx = x + dx;
            if (yy < 0 || yy >= h || xx < 0 || xx >= w) continue;
            if (CONDITION) cnt++;
        }
    out[y * w + x] = cnt;
}"""


def raised(source, file="k.py"):
    done = pipeline.translate(source, file, Options())
    assert not done.diagnostics, done.diagnostics
    found: dict = {}
    exec(done.text, found)
    return done, found


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_pooling(dtype):
    done, found = raised(HEAD + POOL)
    assert "windows_max(" in done.text and "arange" not in done.text
    x = np.random.default_rng(1).integers(-(2**30), 2**30, (9, 11)).astype(dtype)
    for shape, k, s in (((3, 4), 3, 2), (((1, 1), 2, 5)), ((7, 9), 3, 1)):
        wanted = [[x[i * s : i * s + k, j * s : j * s + k].max() for j in range(shape[1])] for i in range(shape[0])]
        np.testing.assert_array_equal(found["pool"](x, np.zeros(shape, dtype), k, s), wanted)


def test_pooling_differentiates():
    done, _ = raised(HEAD + POOL)
    reports, problems = verified(done, pipeline.Request(shapes={"x": (9, 11), "y": (3, 4)}, values={"k": 3, "s": 2}))
    assert not problems and reports[0].ok


def test_borders_are_padding():
    done, found = raised(HEAD + DILATE)
    assert "windows_min(x, (2 * r + 1, 2 * r + 1), (1, 1), ((r, r), (r, r)))" in done.text
    x = np.random.default_rng(2).normal(size=(5, 7)).astype(np.float32)
    wanted = [[x[max(i - 2, 0) : i + 3, max(j - 2, 0) : j + 3].min() for j in range(7)] for i in range(5)]
    np.testing.assert_array_equal(found["dilate"](x, np.zeros_like(x), 2), wanted)


def test_counts():
    done, found = raised(COUNT.replace("CONDITION", "img[yy * w + xx] > 127"), "k.cu")
    assert "jax.lax.reduce_window" in done.text and "arange" not in done.text
    img = np.random.default_rng(3).integers(0, 256, (6, 5)).astype(np.uint8)
    wanted = [[(img[max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2] > 127).sum() for j in range(5)] for i in range(6)]
    out = found["count"](img.ravel(), np.zeros(30, np.int32), 6, 5, 1)
    np.testing.assert_array_equal(out.reshape(6, 5), wanted)


@pytest.mark.parametrize(
    "condition",
    [
        "img[yy * w + xx] > img[y * w + x]",  # the pixel itself has a say
        "img[yy * w + xx] > dx",  # and the place in the window
        "img[yy * w + xx] > 127 && yy + xx < h",
    ],
)
def test_conditions_on_more_than_the_element_are_none(condition):
    done, found = raised(COUNT.replace("CONDITION", condition), "k.cu")
    assert "reduce_window" not in done.text
    img = np.random.default_rng(4).integers(0, 256, (4, 5)).astype(np.uint8)
    wanted = np.zeros((4, 5), np.int32)
    for y in range(4):
        for x in range(5):
            for dy in (-1, 0, 1):
                for dx in (-1, 0, 1):
                    yy, xx = y + dy, x + dx
                    if 0 <= yy < 4 and 0 <= xx < 5:
                        one, own = int(img[yy, xx]), int(img[y, x])
                        kept = {"]": one > own, "x": one > dx, "h": one > 127 and yy + xx < 4}[condition[-1]]
                        wanted[y, x] += kept
    out = found["count"](img.ravel(), np.zeros(20, np.int32), 4, 5, 1)
    np.testing.assert_array_equal(out.reshape(4, 5), wanted)


def test_masks_that_keep_more_out_than_the_borders():
    inner = DILATE.replace("0 <= i + a < n and 0 <= j + b < m", "1 <= i + a < n - 1 and 0 <= j + b < m")
    done, found = raised(HEAD + inner)
    x = np.random.default_rng(5).normal(size=(5, 4)).astype(np.float32)
    wanted = [
        [min(x[i, j], *x[max(i - 1, 1) : min(i + 2, 4), max(j - 1, 0) : j + 2].ravel()) for j in range(4)]
        for i in range(5)
    ]
    np.testing.assert_array_equal(found["dilate"](x, np.zeros_like(x), 1), wanted)


SOME = """def some(x, y, n, m):
    i = cuda.grid(1)
    if i < n:
        s = 1.0
        for a in range(m):
            s = max(s, x[i + a])
        y[i] = s
"""


def test_windows_of_no_elements():
    """They were one fewer than they should be."""
    done, found = raised(HEAD + SOME)
    assert "windows_max(" in done.text and "windows without" in done.text
    x = np.arange(7, dtype=np.float32)
    for n, m in ((5, 0), (5, 2), (0, 0)):
        wanted = [max([1.0, *x[i : i + m]]) for i in range(n)] + [0.0] * (5 - n)
        np.testing.assert_array_equal(found["some"](x, np.zeros(5, np.float32), n, m), wanted)


AHEAD = """def ahead(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        m = -7.0
        for a in range(3, 6):
            if i + a < x.shape[0]:
                m = max(m, x[i + a])
        y[i] = m
"""


def test_windows_that_begin_behind_a_small_array():
    done, found = raised(HEAD + AHEAD)
    assert "windows_max(" in done.text
    for n in (1, 2, 5):
        x = np.arange(n, dtype=np.float32)
        wanted = [max([-7.0, *x[i + 3 : i + 6]]) for i in range(n)]
        np.testing.assert_array_equal(found["ahead"](x, x), wanted)


STRIDED = """
__global__ void pool(const float *x, float *y, int h, int w) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    int oh = (h - 3) / 2 + 1, ow = (w - 3) / 2 + 1;
    if (j >= ow || i >= oh) return;
    float m = -INFINITY;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) m = fmaxf(m, x[(i * 2 + a) * w + j * 2 + b]);
    y[i * ow + j] = m;
}
"""


def test_a_window_of_nine_in_a_flat_image_is_one_line():
    text = pipeline.translate(STRIDED, "k.cu").text
    assert "windows_max(" in text and "jnp.maximum" in text and "arange" not in text
    module = load_module(text)
    x = np.random.default_rng(0).standard_normal((8, 9), np.float32)
    expected = [[x[2 * i : 2 * i + 3, 2 * j : 2 * j + 3].max() for j in range(4)] for i in range(3)]
    np.testing.assert_array_equal(module.pool(x.ravel(), np.zeros(12, np.float32), 8, 9).reshape(3, 4), expected)
    with pytest.raises(ValueError, match="w >= 3"):  # two columns would be a window across two rows
        module.pool(x.ravel(), np.zeros(12, np.float32), 8, 2)


def test_a_window_of_three_is_slices():
    source = HEAD + "def f(x, y):\n    i = cuda.grid(1)\n    if i < x.size - 2:\n        m = x[i]\n"
    source += "        for k in range(1, 3):\n            m = max(m, x[i + k])\n        y[i] = m\n"
    assert "windows_max" not in pipeline.translate(source, "k.py").text


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 8])
def test_quotients_of_what_may_be_negative_are_cut_towards_zero(n):
    source = "__global__ void f(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    source += "int m = (n - 3) / 2 + 1; if (i < m) y[i] = x[i]; int q = (n - 3) % 2 + 5; if (i == q) y[i] = 7; }"
    found = load_module(pipeline.translate(source, "k.cu").text).f(np.ones(8, np.float32), np.zeros(8, np.float32), n)
    expected = np.arange(8) < int((n - 3) / 2) + 1
    expected = np.where(np.arange(8) == (n - 3) - 2 * int((n - 3) / 2) + 5, 7, expected)
    np.testing.assert_array_equal(found, expected)


BY_SIZES = """__global__ void pool(const float *im, float *out, int H, int W, int K, int S, int OH, int OW) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= OW || y >= OH) return;
  float m = -1e30f;
  for (int i = 0; i < K; i++)
    for (int j = 0; j < K; j++) {
      int h = y * S + i, w = x * S + j;
      if (h < H && w < W) m = fmaxf(m, im[h * W + w]);
    }
  out[y * OW + x] = m;
}"""


def test_windows_whose_sizes_are_arguments():
    done = pipeline.translate(BY_SIZES, "k.cu")
    assert "windows_max(" in done.text and "arange" not in done.text, done.text
    for h, w, k, s, oh, ow in ((6, 7, 3, 2, 3, 4), (5, 4, 2, 3, 2, 2), (4, 4, 3, 1, 5, 6), (6, 6, 2, 2, 1, 2)):
        request = pipeline.Request(
            shapes={"im": (h * w,), "out": (oh * ow,)}, values={"H": h, "W": w, "K": k, "S": s, "OH": oh, "OW": ow}
        )
        agrees(done, request, (h, w, k, s, oh, ow))
