"""Loads of the last block behind ``i < n``: rows of the padded array, whatever the sizes of block and array are."""

import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

HEAD = "__global__ void k(const float *x, const float *y, float *out, int n) {"
TREE = """
    __syncthreads();
    for (int w = SIZE / 2; w > 0; w >>= 1) {
        if (t < w) s[t] = JOIN;
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}"""
ADD, MAX = "s[t] + s[t + w]", "fmaxf(s[t], s[t + w])"
KERNELS = {
    "sum": ("16", ADD, "s[t] = i < n ? x[i] : 0.0f;", lambda x, y: sum(x)),
    "sum, any block": ("blockDim.x", ADD, "s[t] = i < n ? x[i] : 0.0f;", lambda x, y: sum(x)),
    "dot": ("16", ADD, "float v = 0; if (i < n) v = x[i] * y[i]; s[t] = v;", lambda x, y: sum(x * y)),
    "largest": ("16", MAX, "s[t] = i < n ? x[i] : -1e30f;", lambda x, y: max(x, default=-1e30)),
}


def _text(name):
    size, join, body, _ = KERNELS[name]
    index = f"__shared__ float s[16]; int t = threadIdx.x; int i = blockIdx.x * {size} + t; "
    done = pipeline.translate(HEAD + index + body + TREE.replace("SIZE", size).replace("JOIN", join), "k.cu")
    assert done.text and not done.diagnostics, done.diagnostics
    return done.text


@pytest.mark.parametrize("name", KERNELS)
def test_blocks_are_rows_of_the_padded_array(name):
    text, expected = _text(name), KERNELS[name][3]
    assert "arange" not in text and "where(" not in text and "reshape(" in text, text
    module = load_module(text)
    for n, grid in ((0, 1), (1, 1), (15, 1), (16, 1), (17, 2), (40, 3), (40, 2), (40, 5)):
        x, y = np.random.default_rng(n).normal(size=(2, n + grid % 3)).astype(np.float32)
        out = np.full(grid + 1, 7, np.float32)
        got = module.k(jnp.asarray(x), jnp.asarray(y), jnp.asarray(out), n, grid=grid, block=16)
        for b in range(grid):
            part = slice(16 * b, min(16 * b + 16, n))
            out[b] = expected(x[part], y[part])
        np.testing.assert_allclose(got, out, rtol=1e-5, atol=1e-5, err_msg=f"n = {n}, {grid} blocks")


def test_a_constant_that_integers_cannot_hold_stays_behind_its_mask():
    done = pipeline.translate(
        "def k(x, y, n):\n    for i in range(n):\n        y[i] = x[i - 1] if i > 0 else 0.5\n", "k.py"
    )
    assert "where(" in done.text


BESIDE = """
def f(x, places, out):
    for b in range(3):
        for t in range(4):
            for c in range(2):
                for u in range({low}, {low} + 8):
                    out[c, b, t, u] = x[4 * b + t, {column}]
"""


@pytest.mark.parametrize(
    ("low", "column"), [(0, "places[c]"), (5, "8 * c + u - 5"), (5, "8 * c + u - 4"), (0, "places[8 * c + u]")]
)
def test_blocks_of_rows_beside_another_subscript(low, column):
    """The rows of a block keep their axes, whatever the other subscript is."""
    source = BESIDE.format(low=low, column=column)
    done = pipeline.translate(source, "k.py")
    scope = {}
    exec(source, scope)
    x = np.random.default_rng(3).standard_normal((12, 17)).astype(np.float32)
    places, out = np.arange(16)[::-1].copy(), np.zeros((2, 3, 4, 13), np.float32)
    raised = load_module(done.text).f(jnp.asarray(x), jnp.asarray(places), jnp.asarray(out))
    scope["f"](x, places, out)
    assert np.array_equal(raised, out)
