"""Ragged rows, searches and registers beside hand-written twins: values, by processor time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kraise.verify.load import load_module
from tests.bench.timing import alternating, row
from tests.corpus import SAMPLES

ROWS, ENTRIES, SIDE, QUERIES = 20_000, 400_000, 1024, 100_000
Arrays = tuple[Any, ...]


@jax.jit
def first_hit(starts: Any, energy: Any, depth: Any, limit: Any, where: Any, lost: Any) -> Arrays:
    n, m = depth.shape[0], energy.shape[0]
    rows = jnp.repeat(jnp.arange(n), jnp.diff(starts), total_repeat_length=m)
    k = jnp.arange(m)
    first = jax.ops.segment_min(jnp.where(energy > limit, k, m), rows, n, indices_are_sorted=True)
    seen = jnp.where(k < first[rows], energy * depth[rows], 0)
    found = jnp.where(first < starts[1:], first, -1)
    return found, jax.ops.segment_sum(seen, rows, n, indices_are_sorted=True)


@jax.jit
def row_cdf(ptr: Any, w: Any, cdf: Any, rest: Any, total: Any) -> Arrays:
    n, m = ptr.shape[0] - 1, w.shape[0]

    def within(a: Arrays, b: Arrays) -> Arrays:
        return jnp.where(b[1], b[0], a[0] + b[0]), a[1] | b[1]

    first = jnp.zeros(m, bool).at[ptr[:-1]].set(True, mode="drop")
    last = jnp.zeros(m, bool).at[ptr[1:] - 1].set(True, mode="drop")
    up, _ = jax.lax.associative_scan(within, (w * w, first))
    down, _ = jax.lax.associative_scan(within, (jnp.where(last, 0.5 + w, w), last), reverse=True)
    rows = jnp.cumsum(jnp.bincount(ptr, length=m)) - 1
    totals = jax.ops.segment_sum(w * w, rows, n, indices_are_sorted=True)
    return up, jnp.where(last, 0.5, jnp.roll(down, -1)), totals


@jax.jit
def median_cross(img: Any, out: Any) -> Any:
    a = img.reshape(SIDE, SIDE)
    v = [a[:-2, 1:-1], a[1:-1, 1:-1], a[2:, 1:-1], a[1:-1, :-2], a[1:-1, 2:]]
    for i in range(3):
        for j in range(i + 1, 5):
            v[i], v[j] = jnp.minimum(v[i], v[j]), jnp.maximum(v[i], v[j])
    return out.reshape(SIDE, SIDE).at[1:-1, 1:-1].set(v[2]).ravel()


@jax.jit
def has_edge(ptr: Any, col: Any, start: Any, to: Any) -> Any:
    low, end = ptr[start], ptr[start + 1]

    def step(_: Any, ends: Arrays) -> Arrays:
        low, high = ends
        middle = (low + high) // 2
        less = (low < high) & (col[middle] < to)
        return jnp.where(less, middle + 1, low), jnp.where(less | (low >= high), high, middle)

    low, _ = jax.lax.fori_loop(0, col.shape[0].bit_length(), step, (low, end))
    return ((low < end) & (col[low] == to)).astype(jnp.int32)


def pairs() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """By name: our call, and the twin's."""
    rng = np.random.default_rng(0)
    inner = np.sort(rng.choice(np.arange(1, ENTRIES), ROWS - 1, replace=False))  # no row is empty
    ptr = jnp.asarray(np.concatenate([[0], inner, [ENTRIES]]).astype(np.int32))
    values, depth = (jnp.asarray(rng.random(n, dtype=np.float32)) for n in (ENTRIES, ROWS))
    image = jnp.asarray(rng.random(SIDE * SIDE, dtype=np.float32))
    inside = np.sort(rng.integers(0, 1000, ENTRIES) + 1000 * np.repeat(np.arange(ROWS), np.diff(ptr)))
    col = jnp.asarray((inside % 1000).astype(np.int32))
    start, to = (jnp.asarray(rng.integers(0, n, QUERIES).astype(np.int32)) for n in (ROWS, 1000))
    marks, none, blank = jnp.zeros(ROWS, jnp.int32), jnp.zeros(ROWS), jnp.zeros(ENTRIES)
    golden = {s.name: s.golden for s in SAMPLES}
    hits, scans, window, edges = (
        load_module(golden[n].read_text())
        for n in ("first_in_row", "cuda_row_scans", "cuda_median_window", "cuda_edge_lookup")
    )
    found = jnp.zeros(QUERIES, jnp.int32)
    return {
        "first in a row": (
            lambda: hits.first_hit(ptr, values, depth, 0.9, marks, none),
            lambda: first_hit(ptr, values, depth, 0.9, marks, none),
        ),
        "scans of rows": (
            lambda: scans.row_cdf(ptr, values, blank, blank, none, ROWS),
            lambda: row_cdf(ptr, values, blank, blank, none),
        ),
        "median of five": (lambda: window.median_cross(image, image, SIDE, SIDE), lambda: median_cross(image, image)),
        "searches in rows": (
            lambda: edges.has_edge(ptr, col, start, to, found, QUERIES),
            lambda: has_edge(ptr, col, start, to),
        ),
    }


def main() -> None:
    """One row a function: ours over the twin. AssertionError if they differ."""
    for name, (ours, twin) in pairs().items():
        for a, b in zip(jax.tree.leaves(ours()), jax.tree.leaves(twin()), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3)
        calls = [lambda f=f: jax.block_until_ready(f()) for f in (ours, twin)]
        one, two = alternating(calls, clock=time.process_time)
        row(name, f"{one / two:.2f} x", f"at most 1.1 x   (twin {two * 1e3:.1f} ms)")


if __name__ == "__main__":
    main()
