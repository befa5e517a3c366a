"""Sums over a number that is taken apart (``i / S``, ``i % S``), and columns that the blocks count."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

TREE = """
__global__ void f(const float *x, float *y, int N, int C, int S) {
  __shared__ float s[64];
  int c = blockIdx.x, t = threadIdx.x;
  float v = 0;
  for (int i = t; i < RANGE; i += blockDim.x) v += PLACE;
  s[t] = v;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
  if (t == 0) y[c] = s[0];
}
"""
LOOP = """
__global__ void f(const float *x, float *y, int N, int C, int S) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C) return;
  float v = 0;
  for (int i = 0; i < RANGE; i++) v += PLACE;
  y[c] = v;
}
"""
CHANNEL = "x[(i / S * C + c) * S + i % S]"
IN_ROWS = {
    "a channel by its block": (TREE, "N * S", CHANNEL, lambda x: x.sum(axis=(0, 2))),
    "a channel by its thread": (LOOP, "N * S", CHANNEL, lambda x: x.sum(axis=(0, 2))),
    "the number itself": (LOOP, "N * S", f"{CHANNEL} * (i - S * (i / S))", lambda x: x.sum(axis=0) @ np.arange(4)),
    "three digits": (
        LOOP,
        "N * S * 2",
        "x[(i / (2 * S) * C + c) * S + i / 2 % S] * (i % 2 + 1)",
        lambda x: 3 * x.sum(axis=(0, 2)),
    ),
    "a column by its block": (TREE, "N", "x[i * C + c]", lambda x: x.reshape(-1, 3)[:5].sum(axis=0)),
}


@pytest.mark.parametrize("name", IN_ROWS)
def test_rows(name):
    head, until, place, expected = IN_ROWS[name]
    done = pipeline.translate(head.replace("RANGE", until).replace("PLACE", place), "k.cu")
    assert done.text and "jnp.clip" not in done.text and "// S" not in done.text, done.text
    f = load_module(done.text).f
    x, ct = np.random.default_rng(5).normal(size=(5, 3, 4)).astype(np.float32), np.arange(3, dtype=np.float32) - 1
    given, y = jnp.asarray(x.ravel()), jnp.zeros(3)
    np.testing.assert_allclose(f(given, y, 5, 3, 4), expected(x), rtol=1e-5, atol=1e-5)
    slope = jax.grad(lambda x: jnp.vdot(f(x, y, 5, 3, 4), ct))(given)
    along = np.random.default_rng(6).normal(size=x.shape).astype(np.float32)
    np.testing.assert_allclose(np.vdot(slope, along), np.vdot(ct, expected(along)), rtol=1e-4, atol=1e-4)
    assert f(jnp.zeros(0), jnp.zeros(3), 0, 3, 4).tolist() == [0, 0, 0]
    if head is TREE:
        np.testing.assert_allclose(f(given, y, 5, 3, 4, grid=2, block=8)[:2], expected(x)[:2], rtol=1e-5, atol=1e-5)
        with pytest.raises(ValueError, match="grid <= C"):
            f(given, jnp.zeros(4), 5, 3, 4)


@pytest.mark.parametrize("until", ["N", "N * S - 1", "N * C"])
def test_a_range_that_is_no_multiple_stays_one_index(until):
    done = pipeline.translate(LOOP.replace("RANGE", until).replace("PLACE", CHANNEL), "k.cu")
    assert done.text and "reshape" not in done.text, done.text
    x = np.random.default_rng(5).normal(size=60).astype(np.float32)
    got = load_module(done.text).f(jnp.asarray(x), jnp.zeros(3), 5, 3, 4)
    count = {"N": 5, "N * S - 1": 19, "N * C": 15}[until]
    for c in range(3):
        terms = [x[(i // 4 * 3 + c) * 4 + i % 4] for i in range(count)]
        np.testing.assert_allclose(got[c], sum(terms), rtol=1e-5, atol=1e-5)
