"""Sums over windows with channels are convolutions of the library."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

LOOPS = """def f(x, w, y{more}):
 {sizes}
 for n in range({N}):
  for o in range({O}):
   for i in range({I}):
    for j in range({J}):
     s = 0.0
     for c in range({C}):
      for p in range({P}):
       for q in range({Q}):
        {step}
     y[n, o, i, j] = s
"""
SIZES = "N, C, H, W = x.shape\n O, _, K, L = w.shape"
PLAIN = {"more": "", "sizes": SIZES, "N": "N", "O": "O", "C": "C", "P": "K", "Q": "L",
         "I": "H - K + 1", "J": "W - L + 1", "step": "s += x[n, c, i + p, j + q] * w[o, c, p, q]"}  # fmt: skip
PADDED = (
    "r = i * 2 + p - 1\n        t = j * 2 + q - 1\n        if r >= 0 and r < H and 0 <= t < W:\n"
    "         s += x[n, c, r, t] * w[o, c, p, q]"
)
FORMS = {
    "valid": ({}, '"VALID"'),
    "strided": ({"I": "(H - K) // 2 + 1", "J": "(W - L) // 3 + 1",
                 "step": "s += w[o, c, p, q] * x[n, c, 2 * i + p, j * 3 + q]"}, '(2, 3), "VALID"'),  # fmt: skip
    "padded": ({"I": "(H - K + 2) // 2 + 1", "J": "(W - L + 2) // 2 + 1", "step": PADDED}, "(1, 2 * "),
    "same": ({"P": "3", "Q": "3", "I": "H", "J": "W", "step": PADDED.replace(" * 2", "")}, "((1, 1), (1, 1))"),
    "dilated": ({"I": "H - 2 * (K - 1)", "step": "s += x[n, c, i + 2 * p, j + q] * w[o, c, p, q]"}, "=(2, 1)"),
    "turned": ({"step": "s -= x[n, c, i + p, j + q] * w[o, c, K - 1 - p, L - 1 - q] / 2"}, "::-1"),
    "further on": ({"I": "H - K", "step": "s += x[n, c, i + p + 1, j + q] * w[o, c, p, q]"}, "((-1, 0), (0, 0))"),
}  # fmt: skip
OTHERS = {
    "squares": {"step": "s += (x[n, c, i + p, j + q] - w[o, c, p, q]) ** 2"},
    "by the place": {"step": "s += x[n, c, i + p, j + q] * w[o, c, p, q] * i"},
    "a mask of data": {"step": "if w[o, c, p, q] > 0:\n         s += x[n, c, i + p, j + q] * w[o, c, p, q]"},
    "two windows of one": {"Q": "K", "J": "H - K + 1", "step": "s += x[n, c, i + p, j + p] * w[o, c, p, q]"},
}


def made(source):
    done = pipeline.translate(source, "k.py")
    assert done.text is not None, done.diagnostics
    own = {}
    exec(source, own)
    return done.text, load_module(done.text).f, own["f"]


def check(mine, own, x, w, y):
    expected = y.copy()
    own(x, w, expected)
    np.testing.assert_allclose(mine(x, w, y), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", [*FORMS, *OTHERS])
def test_forms(name):
    form, shown = FORMS.get(name) or (OTHERS[name], "")
    text, mine, own = made(LOOPS.format(**(PLAIN | form)))
    assert ("conv_general_dilated" in text) == (name in FORMS or name == "by the place") and shown in text
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 3, 6, 7)).astype("float32"), rng.normal(size=(2, 3, 3, 3)).astype("float32")
    check(mine, own, x, w, np.zeros((2, 2, 6, 7), "float32"))


def test_types_and_slopes():
    _, mine, own = made(LOOPS.format(**PLAIN))
    x, w = np.arange(36, dtype="uint8").reshape(1, 1, 6, 6), np.full((2, 1, 2, 2), 0.5, "float32")
    y = np.zeros((1, 2, 5, 5), "float32")
    check(mine, own, x, w, y)
    slope = jax.grad(lambda w: mine(x, w, y)[0, 0, 0, 0])(w)
    np.testing.assert_array_equal(slope[0, 0], [[0, 1], [6, 7]])
    assert not slope[1].any()
    tangent = jax.jvp(lambda x: mine(x, w, y), (jnp.ones((1, 1, 6, 6)),), (jnp.ones((1, 1, 6, 6)),))[1]
    np.testing.assert_array_equal(tangent, np.full((1, 2, 5, 5), 2.0))


ONE = """def f(x, w, y):
 C, H, W = x.shape
 K = w.shape[1]
 for c in range(C):
  for i in range(H - K + 1):
   for j in range(W - K + 1):
    s = 0.0
    for p in range(K):
     for q in range(K):
      s += x[c, i + p, j + q] * w[c, p, q]
    y[c, i, j] = s
"""


def test_each_channel_by_itself():
    text, mine, own = made(ONE)
    # XLA's convolutions of single channels take 10 to 100 times as long on a CPU
    assert "conv_general_dilated" not in text and "def summed(" in text
    x, w = np.arange(60, dtype="float32").reshape(3, 4, 5), np.arange(12, dtype="float32").reshape(3, 2, 2)
    check(mine, own, x, w, np.zeros((3, 4, 5), "float32"))


def test_flat_memory():
    source = (
        "__global__ void f(const float *x, const float *w, float *y, int C, int L, int O, int K) {\n"
        " int t = blockIdx.x * blockDim.x + threadIdx.x, o = blockIdx.y;\n if (t < L - K + 1 && o < O) {\n"
        "  float s = 0;\n  for (int c = 0; c < C; c++)\n   for (int k = 0; k < K; k++)\n"
        "    s += x[c * L + t + k] * w[(o * C + c) * K + k];\n  y[o * (L - K + 1) + t] = s; } }"
    )
    done = pipeline.translate(source, "k.cu")
    assert "jax.lax.conv_general_dilated(" in done.text and "convolved" not in done.text
    x, w = np.arange(14, dtype="float32"), np.arange(12, dtype="float32")
    got = load_module(done.text).f(x, w, np.zeros(12, "float32"), 2, 7, 2, 3)[:10]
    windows = np.lib.stride_tricks.sliding_window_view(x.reshape(2, 7), 3, axis=1)
    np.testing.assert_allclose(got, np.einsum("ctk,ock->ot", windows, w.reshape(2, 2, 3)).ravel())
