"""A tree reduction, a tiled matrix product and a tiled stencil beside the same kernel without shared memory.

Both come from kraise. Where XLA compiles both to the same program, that is said; the ratio is measured all the same.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kraise import pipeline
from kraise.verify.load import load_module
from tests.bench.timing import alternating, row

SOURCE = """
#define T 16
__global__ void tree_sum(const float *x, float *sums, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? x[i] * x[i] : 0.0f;
  __syncthreads();
  for (int half = 128; half > 0; half >>= 1) {
    if (t < half) s[t] += s[t + half];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}
__global__ void plain_sum(const float *x, float *sums, int n) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b * 256 >= n) return;
  float total = 0.0f;
  for (int k = 0; k < 256; k++)
    if (b * 256 + k < n) total += x[b * 256 + k] * x[b * 256 + k];
  sums[b] = total;
}
__global__ void tiled_product(const float *a, const float *b, float *c, int n) {
  __shared__ float left[T][T], right[T][T];
  int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
  float acc = 0.0f;
  for (int m = 0; m < (n + T - 1) / T; m++) {
    int at = m * T + threadIdx.x, down = m * T + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = row < n && at < n ? a[row * n + at] : 0.0f;
    right[threadIdx.y][threadIdx.x] = down < n && col < n ? b[down * n + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < T; k++) acc += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  if (row < n && col < n) c[row * n + col] = acc;
}
__global__ void plain_product(const float *a, const float *b, float *c, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || col >= n) return;
  float acc = 0.0f;
  for (int k = 0; k < n; k++) acc += a[row * n + k] * b[k * n + col];
  c[row * n + col] = acc;
}
__global__ void tiled_stencil(const float *u, float *v, int n) {
  __shared__ float s[T + 2][T + 2];
  int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
  int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  if (x < n && y < n) {
    s[ly][lx] = u[y * n + x];
    if (threadIdx.x == 0 && x > 0) s[ly][0] = u[y * n + x - 1];
    if (threadIdx.x == T - 1 && x < n - 1) s[ly][T + 1] = u[y * n + x + 1];
    if (threadIdx.y == 0 && y > 0) s[0][lx] = u[(y - 1) * n + x];
    if (threadIdx.y == T - 1 && y < n - 1) s[T + 1][lx] = u[(y + 1) * n + x];
  }
  __syncthreads();
  if (x > 0 && x < n - 1 && y > 0 && y < n - 1)
    v[y * n + x] = s[ly][lx] + 0.1f * (s[ly][lx - 1] + s[ly][lx + 1] + s[ly - 1][lx] + s[ly + 1][lx] - 4 * s[ly][lx]);
}
__global__ void plain_stencil(const float *u, float *v, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < n - 1 && y > 0 && y < n - 1)
    v[y * n + x] = u[y * n + x] + 0.1f * (u[y * n + x - 1] + u[y * n + x + 1] + u[(y - 1) * n + x]
                                          + u[(y + 1) * n + x] - 4 * u[y * n + x]);
}
"""
ENTRIES, MATRIX, SIDE = 1 << 22, 512, 2048


def pairs() -> dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]]:
    """By name: the kernel with shared memory, the one without, and their arrays. RuntimeError if one is refused."""
    done = pipeline.translate(SOURCE, "tiled.cu")
    if done.text is None or done.diagnostics:
        raise RuntimeError(str(done.diagnostics))
    m = load_module(done.text)
    rng = np.random.default_rng(0)

    def floats(n: int) -> Any:
        return jnp.asarray(rng.random(n, dtype=np.float32))

    blocks = ENTRIES // 256
    square, grid = floats(MATRIX * MATRIX), floats(SIDE * SIDE)
    return {
        "tree reduction": (
            lambda x, s: m.tree_sum(x, s, ENTRIES, grid=blocks),
            lambda x, s: m.plain_sum(x, s, ENTRIES),
            (floats(ENTRIES), jnp.zeros(blocks)),
        ),
        "tiled matrix product": (
            lambda a, b, c: m.tiled_product(a, b, c, MATRIX),
            lambda a, b, c: m.plain_product(a, b, c, MATRIX),
            (square, floats(MATRIX * MATRIX), jnp.zeros(MATRIX * MATRIX)),
        ),
        "tiled stencil": (
            lambda u, v: m.tiled_stencil(u, v, SIDE),
            lambda u, v: m.plain_stencil(u, v, SIDE),
            (grid, jnp.zeros(SIDE * SIDE)),
        ),
    }


def main() -> None:
    """One row a kernel: with shared memory over without. AssertionError if they differ."""
    for name, (tiled, plain, arrays) in pairs().items():
        one, two = jax.jit(tiled), jax.jit(plain)
        np.testing.assert_allclose(one(*arrays), two(*arrays), rtol=1e-4, atol=1e-3)
        same = _program(one, arrays) == _program(two, arrays)
        calls = [lambda f=f, given=arrays: jax.block_until_ready(f(*given)) for f in (one, two)]
        a, b = alternating(calls, clock=time.process_time, rounds=41)
        said = "the same program" if same else f"at most 1.05 x   (untiled {b * 1e3:.1f} ms)"
        row(name, f"{a / b:.2f} x", said)


def _program(function: Any, arrays: tuple[Any, ...]) -> str:
    """What XLA compiles, without where it comes from."""
    text = function.lower(*arrays).compile().as_text()
    text = text[text.index("\n%") if "\n%" in text else text.index("\nENTRY") :]
    return re.sub(r", metadata=\{[^}]*\}|jit_[\w.]+", "", text)


if __name__ == "__main__":
    main()
