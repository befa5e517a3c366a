"""Blocks that each take a part of all, the last one what is left: no masks, no reshape of what is not there."""

import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

PART = "for (int i = b * m + t; i < min(b * m + m, n); i += blockDim.x) "
HIST = "__shared__ int s[8]; if (t < 8) s[t] = 0; __syncthreads(); PART atomicAdd(&s[d[i]], 1); __syncthreads(); "
KERNELS = {  # body, what the text holds, whether the launch may be left out
    "counts of a part": (
        HIST + "if (t < 8) h[b * 8 + t] = s[t];",
        "s.at[i // m, d[: min(n, blocks * m)]].add(1)",
        True,
    ),
    "elements by part": ("PART atomicAdd(&h[d[i]], b + 1);", "h.at[d[: min(n, grid * m)]].add((i // m + 1)", False),
    "elements in rows": (
        "for (int j = t; j < m; j += blockDim.x) if (b * m + j < n) atomicAdd(&h[d[b * m + j]], b + 1);",
        "h.at[d[: min(n, grid * m)]].add((j // m + 1)",
        False,
    ),
    "stored": ("PART h[i] = d[i] + b;", "jnp.pad(d[:count], (0, blocks * m - count)).reshape(blocks, m)", True),
    "places of their own": ("PART atomicAdd(&h[d[i]], t);", "", False),
}


def _expected(name, d, n, m, grid):
    part = np.arange(n) // m
    on = part < grid
    if name == "stored":
        return np.where(on, d + part, -1)
    out = np.zeros(8 * grid if name == "counts of a part" else 8, np.int32)
    place = 8 * part + d if name == "counts of a part" else d
    thread = (np.arange(n) - m * part) % 8
    added = {"counts of a part": 1 + 0 * part, "places of their own": thread}.get(name, part + 1)
    np.add.at(out, place[on], added[on])
    return out


@pytest.mark.parametrize("name", KERNELS)
def test_parts(name):
    body, text, free = KERNELS[name]
    head = "__global__ void f(const int *d, int *h, int n, int m) { int t = threadIdx.x, b = blockIdx.x; "
    done = pipeline.translate(head + body.replace("PART ", PART) + "}", "k.cu")
    assert done.text and "".join(text.split()) in "".join(done.text.split()), done.text
    f = load_module(done.text).f
    for n, m in ((10, 4), (12, 4), (3, 8), (0, 4)):
        d = np.random.default_rng(n).integers(0, 8, n).astype(np.int32)
        blocks = -(-n // m)
        for grid in (blocks, blocks - 1, None):
            if grid == 0 or grid == -1 or grid is None and not free:
                continue
            given = {} if grid is None else {"grid": grid, "block": 8}
            count = blocks if grid is None else grid
            expected = _expected(name, d, n, m, count)
            h = np.full(n, -1, np.int32) if name == "stored" else np.zeros(expected.size, np.int32)
            np.testing.assert_array_equal(f(jnp.asarray(d), jnp.asarray(h), n, m, **given), expected)
