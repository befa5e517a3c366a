"""Stores at a place that their loop counts (stream compaction): no loop, a scatter to a running count."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module

KEPT = """
def f(x, out, place):
    k = 0
    for i in range(len(x)):
        if x[i] > 0.3:
            out[k] = x[i] * x[i]
            place[k] = i
            k += 1
    return k
"""
PARTED = """
def f(x, out, place):
    a = 0
    b = 0
    for i in range(len(x)):
        if x[i] < 0.5:
            out[a] = 2 * x[i]
            a += 1
        else:
            place[b] = i
            b += 1
    return a
"""
ROWS = """
__global__ void f(const float *x, float *out, int *place, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
  if (r >= rows) return;
  for (int i = 0; i < cols; i++)
    if (x[r * cols + i] > 0.3f) out[r * cols + k++] = x[r * cols + i] * x[r * cols + i];
  place[r] = k;
}
"""
X = np.random.default_rng(5).random(9).astype(np.float32)


def looped(text):
    return "scan(" in text.replace("cumsum(", "") or "fori_loop" in text


@pytest.mark.parametrize("source", [KEPT, PARTED])
def test_a_place_that_grows_with_each_store(source):
    text, own = pipeline.translate(source, "f.py", Options(only=("f",))).text, {}
    assert text and not looped(text), text
    exec(source, own)  # noqa: S102
    f = load_module(text).f
    for n in (0, 1, 9):
        out, place = np.zeros(9, np.float32), np.full(9, -1)
        got = f(X[:n], out, place)
        want = own["f"](X[:n], out, place)
        for g, w in zip(got, (want, out, place), strict=True):
            np.testing.assert_allclose(g, w, rtol=1e-6)
    slope = jax.grad(lambda x: (f(x, np.zeros(9, np.float32), place)[1] * np.arange(1.0, 10)).sum())(X)
    kept = X > 0.3 if source == KEPT else X < 0.5
    np.testing.assert_allclose(slope, kept * np.cumsum(kept) * (2 * X if source == KEPT else 2), rtol=1e-5)


def test_each_thread_counts_in_its_row():
    text = pipeline.translate(ROWS, "f.cu").text
    assert text and not looped(text), text
    out, place = load_module(text).f(X, np.zeros(9, np.float32), np.zeros(3, np.int32), 3, 3)
    kept = [r[r > 0.3] ** 2 for r in X.reshape(3, 3)]
    np.testing.assert_allclose(out, np.concatenate([np.pad(r, (0, 3 - len(r))) for r in kept]), rtol=1e-6)
    assert place.tolist() == [len(r) for r in kept]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("            k += 1\n", "            if x[i] > 0.6:\n                k += 1\n"),  # a cell is stored to again
        ("            k += 1\n", "            k += 1 if i > 2 else -1\n"),
        ("out[k] = x[i] * x[i]", "out[k] = x[i] * out[k - 1]"),
        ("            out[k] = x[i] * x[i]\n", "            out[k] = x[i] * x[i]\n            out[i] = 0.0\n"),
        ("            k += 1\n", "            k += 1\n        else:\n            out[k] = 0.0\n"),
    ],
)
def test_cells_that_rounds_share(old, new):
    assert old in KEPT
    source = KEPT.replace(old, new)
    text, own = pipeline.translate(source, "f.py", Options(only=("f",))).text, {}
    assert text and looped(text), text
    exec(source, own)  # noqa: S102
    out, place = np.ones(12, np.float32), np.zeros(12, int)
    got = load_module(text).f(X, out, place)
    want = own["f"](X, out, place)
    for g, w in zip(got, (want, out, place), strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-5)
