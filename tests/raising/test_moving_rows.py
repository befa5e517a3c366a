"""Arrays that a loop makes row by row, each from the last few: the loop carries the rows."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

ROWS = {
    "sums of three": "for i in range(1, n):\n        for j in range(1, m - 1):\n"
    "            a[i, j] = c[i, j] + 0.3 * (a[i-1, j-1] + a[i-1, j] + a[i-1, j+1])",
    "whole rows": "for i in range(1, n):\n        for j in range(m):\n"
    "            a[i, j] = c[i, j] + min(a[i-1, j], a[i-1, max(j - 1, 0)])",
    "two rows back": "for t in range(1, n - 1):\n        for j in range(1, m - 1):\n"
    "            a[t+1, j] = 1.5 * a[t, j] - a[t-1, j] + 0.1 * (a[t, j+1] + a[t, j-1]) * c[t, j]",
    "backwards": "for i in range(n - 2, -1, -1):\n        for j in range(m):\n"
    "            a[i, j] = max(c[i, j], 0.9 * a[i+1, j])",
    "columns": "for i in range(1, m):\n        for j in range(n):\n            a[j, i] = a[j, i-1] * c[j, i] + 1.0",
    "added to": "for i in range(1, n):\n        for j in range(m):\n            a[i, j] += 0.5 * a[i-1, j]",
    "under a mask": "for i in range(2, n):\n        for j in range(m):\n            if a[i-2, j] > c[i, j]:\n"
    "                a[i, j] = a[i-1, j] - c[i, j]",
    "places from data": "for i in range(1, n):\n        for j in range(m):\n            best = a[i-1, j]\n"
    "            if j >= k[i]:\n"
    "                best = max(best, a[i-1, j - k[i]] + c[i, 0])\n            a[i, j] = best",
    "what no round has stored": "for i in range(1, n - 1):\n        for j in range(m):\n"
    "            a[i, j] = a[i-1, j] + 0.5 * a[i+1, j] - a[i, j]",
    "a row above the first": "for i in range(0, n):\n        for j in range(m):\n"
    "            a[i, j] = c[i, j] + (a[i-1, j] if i > 0 else 0.0)",
    "two rows above the first": "for i in range(0, n):\n        for j in range(m):\n"
    "            a[i, j] = c[i, j] / (1.5 + (math.log(abs(a[i-2, j])) ** 2 if i > 1 else 0.0))",
    "scaled to one": "for i in range(0, n):\n        if i > 0:\n            for j in range(m):\n"
    "                s = 0.0\n                for q in range(m):\n                    s += a[i-1, q] * c[0, q]\n"
    "                a[i, j] = s + c[i, j]\n        z = 0.5\n"
    "        for j in range(m):\n            z += a[i, j] ** 2\n"
    "        for j in range(m):\n            a[i, j] = a[i, j] / z",
    "two arrays": "b = c.copy()\n    for i in range(1, n):\n        for j in range(m):\n"
    "            a[i, j] = a[i-1, j] - 0.3 * b[i-1, j]\n        for j in range(m):\n"
    "            b[i, j] = b[i-1, j] + 0.3 * a[i, j]",
    "sums over the last row": "for i in range(1, n):\n        for j in range(m):\n            s = 0.0\n"
    "            for q in range(m):\n                s += a[i-1, q] * c[q % n, j]\n            a[i, j] = s * 0.2",
}  # fmt: skip
ARRAYS = {
    "a row that the data choose": "for i in range(1, n):\n        for j in range(m):\n"
    "            a[i, j] = a[k[i] % i, j]",
    "a row above the first that is used": "for i in range(0, n):\n        for j in range(m):\n"
    "            a[i, j] = c[i, j] + 0.5 * a[i-1, j]",
    "twice, not all of it each time": "for i in range(1, n):\n        for j in range(m):\n"
    "            a[i, j] = a[i-1, j] + c[i, j]\n        for j in range(1, m):\n            a[i, j] = 2.0 * a[i, j]",
    "two rows a round": "for i in range(1, n - 1):\n        for j in range(m):\n"
    "            a[i, j] = a[i-1, j] + c[i, j]\n        for j in range(m):\n            a[i+1, j] = 2.0 * a[i, j]",
}  # fmt: skip


def _same(function, own, shape, smooth):
    draw = np.random.default_rng(sum(shape))
    a, c = draw.normal(size=(2, *shape)).astype(np.float32)
    k = draw.integers(0, 3, shape[0]).astype(np.int32)
    expected, way = a.copy(), draw.normal(size=shape).astype(np.float32)
    own(expected, c, k)
    np.testing.assert_allclose(function(a, c, k), expected, rtol=1e-5, atol=1e-5)
    if not smooth:
        return
    grads = jax.grad(lambda a, c: (function(a, c, k) * way).sum(), (0, 1))(a, c)
    assert all(np.isfinite(g).all() for g in grads)
    ends = []
    for step in (1e-4, -1e-4):
        ends.append(a + step * way.astype(np.float64))
        own(ends[-1], c - step * way.astype(np.float64), k)
    slope = ((ends[0] - ends[1]) * way).sum() / 2e-4
    assert abs(((grads[0] - grads[1]) * way).sum() - slope) < 1e-3 * max(1, abs(slope))


def _compare(body, sizes=((6, 5), (1, 4)), smooth=True):
    source = f"import math\ndef f(a, c, k):\n    n, m = a.shape\n    {body}\n"
    text = pipeline.translate(source, "f.py").text
    own: dict = {}
    exec(source, own)
    for shape in sizes:
        _same(load_module(text).f, own["f"], shape, smooth and shape[0] > 1)
    return text


LATER = ("columns", "backwards", "two rows above the first", "what no round has stored")  # alike others: the long tier


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.long) if n in LATER else n for n in ROWS])
def test_rows(name):
    text = _compare(ROWS[name], smooth=name != "under a mask")
    assert "before" in text and ".at[i]" not in text


@pytest.mark.parametrize("name", ARRAYS)
def test_the_array_is_carried(name):
    assert "before" not in _compare(ARRAYS[name], ((6, 5),))


FLAT = """__global__ void f(const float *c, float *a, int h, int w) {
    for (int i = 1; i < h; i++)
        for (int j = 0; j < w; j++) {
            float m = a[(i - 1) * w + j];
            if (j > 0) m = fminf(m, a[(i - 1) * w + j - 1]);
            a[i * w + j] = c[i * w + j] + m;
        }
}"""


@pytest.mark.parametrize("shape", [(5, 4), (1, 3), (0, 3)])
def test_flat_rows(shape):
    h, w = shape
    draw = np.random.default_rng(h + w)
    c, a = draw.normal(size=(2, h * w + 2)).astype(np.float32)
    expected = a.copy()
    table = expected[: h * w].reshape(h, w)
    for i in range(1, h):
        left = np.append(np.inf, table[i - 1, :-1]) if w else table[i - 1]
        table[i] = c[i * w : (i + 1) * w] + np.minimum(table[i - 1], left)
    np.testing.assert_allclose(FLAT_ROWS(c, a, h, w), expected, rtol=1e-5)


FLAT_ROWS = load_module(pipeline.translate(FLAT, "f.cu").text).f
