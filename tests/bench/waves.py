"""Diagonals, segments, chequerboards and arg-extrema beside hand-written twins: values and gradients, processor time.

The twins are written as one would by hand: the same recurrence along diagonals with slices of a skewed table, segment
sums with ``repeat``ed rows, two half-sweeps under a mask that is made once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kraise.verify.load import load_module
from tests.bench.timing import alternating, row
from tests.corpus import SAMPLES

SIDE, GRID, SWEEPS, ROWS, ENTRIES, POINTS, SITES = 512, 512, 20, 20_000, 400_000, 20_000, 64
Call = Callable[..., Any]


@jax.jit
def needleman_wunsch(a: Any, b: Any, score: Any, match: Any, gap: Any) -> Any:
    """The i-th cell of a diagonal is in row i; rows and columns of the border come in as they are."""
    n, m = score.shape
    similar = jnp.zeros((n, m)).at[1:, 1:].set(jnp.where(a[: n - 1, None] == b[: m - 1], match, -match))
    w = jnp.arange(n + m - 1)[:, None]
    i = jnp.arange(n)
    j = jnp.clip(w - i, 0, m - 1)
    border = (i == 0) | (w - i == 0)

    def step(state: Any, inputs: Any) -> Any:
        one, two = state
        given, cost, edge = inputs
        best = jnp.maximum(jnp.roll(two, 1) + cost, jnp.maximum(jnp.roll(one, 1), one) - gap)
        new = jnp.where(edge, given, best)
        return (new, one), new

    none = jnp.zeros(n)
    _, diagonals = jax.lax.scan(step, (none, none), (score[i, j], similar[i, j], border))
    rows, cols = jnp.arange(n)[:, None], jnp.arange(m)
    return diagonals[rows + cols, rows]


@partial(jax.jit, static_argnames="sweeps")
def red_black_sor(u: Any, f: Any, omega: Any, sweeps: int) -> Any:
    i, j = jnp.arange(1, u.shape[0] - 1)[:, None], jnp.arange(1, u.shape[1] - 1)

    def sweep(_: Any, u: Any) -> Any:
        for colour in (0, 1):
            mine = (i + j + 1 + colour) % 2 == 0
            near = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            change = omega * (0.25 * (near - f[1:-1, 1:-1]) - u[1:-1, 1:-1])
            u = u.at[1:-1, 1:-1].add(jnp.where(mine, change, 0))
        return u

    return jax.lax.fori_loop(0, sweeps, sweep, u)


@jax.jit
def csr_spmv(indptr: Any, indices: Any, data: Any, x: Any, y: Any) -> Any:
    n, m = y.shape[0], data.shape[0]
    rows = jnp.repeat(jnp.arange(n), jnp.diff(indptr), total_repeat_length=m)
    return jax.ops.segment_sum(data * x[indices], rows, n, indices_are_sorted=True)


@jax.jit
def score(documents: Any, paragraphs: Any, weights: Any, words: Any, scores: Any) -> Any:
    d, p, w = scores.shape[0], weights.shape[0], words.shape[0]
    of_word = jnp.repeat(jnp.arange(p), jnp.diff(paragraphs), total_repeat_length=w)
    inside = jax.ops.segment_sum(words, of_word, p, indices_are_sorted=True)
    of_paragraph = jnp.repeat(jnp.arange(d), jnp.diff(documents), total_repeat_length=p)
    return jax.ops.segment_sum(weights * inside, of_paragraph, d, indices_are_sorted=True)


@jax.jit
def nearest_site(p: Any, site: Any) -> Any:
    which = jnp.argmin((site[:, 0] - p[:, :1]) ** 2 + (site[:, 1] - p[:, 1:]) ** 2, axis=1)
    return which, jnp.sum((site[which] - p) ** 2, axis=1)


def pairs() -> dict[str, tuple[Call, Call, tuple[Any, ...]]]:
    """By name: our function and the twin, each of the same arrays (no constants: XLA would fold them), and these."""
    rng = np.random.default_rng(0)

    def floats(*shape: int) -> Any:
        return jnp.asarray(rng.random(shape, dtype=np.float32))

    def pointer(rows: int, entries: int) -> Any:
        inner = np.sort(rng.choice(np.arange(1, entries), rows - 1, replace=False))
        return jnp.asarray(np.concatenate([[0], inner, [entries]]).astype(np.int32))

    golden = {s.name: s.golden for s in SAMPLES}
    names = ("needleman_wunsch", "red_black_sor", "csr_spmv", "paragraph_sums", "cuda_nearest_site")
    nw, sor, csr, rows, near = (load_module(golden[n].read_text()) for n in names)
    a, b = (jnp.asarray(rng.integers(0, 4, SIDE).astype(np.int32)) for _ in range(2))
    ptr, few, many = pointer(ROWS, ENTRIES), pointer(ROWS // 10, ROWS), pointer(ROWS, ENTRIES)
    col = jnp.asarray(rng.integers(0, ROWS, ENTRIES).astype(np.int32))
    out, which = jnp.zeros(POINTS), jnp.zeros(POINTS, jnp.int32)
    table = -0.5 * jnp.abs(jnp.arange(SIDE + 1.0)[:, None] - jnp.arange(SIDE + 1.0))
    return {
        "alignment by diagonals": (
            lambda a, b, s: nw.needleman_wunsch(a, b, s, 1.0, 0.5),
            lambda a, b, s: needleman_wunsch(a, b, s, 1.0, 0.5),
            (a, b, table),
        ),
        "chequerboard sweeps": (
            lambda u, f: sor.red_black_sor(u, f, 1.5, SWEEPS),
            lambda u, f: red_black_sor(u, f, 1.5, SWEEPS),
            (floats(GRID, GRID), floats(GRID, GRID)),
        ),
        "sparse matrix, rows": (
            csr.csr_spmv,
            csr_spmv,
            (ptr, col, floats(ENTRIES), floats(ROWS), jnp.zeros(ROWS)),
        ),
        "rows of rows": (
            rows.score,
            score,
            (few, many, floats(ROWS), floats(ENTRIES), jnp.zeros(ROWS // 10)),
        ),
        "nearest of all": (
            lambda p, s: near.nearest_site(p, s, which, out, POINTS, SITES),
            nearest_site,
            (floats(POINTS, 2), floats(SITES, 2)),
        ),
    }


def main() -> None:
    """Two rows a function: ours over the twin. AssertionError if they differ."""
    for name, (ours, twin, arrays) in pairs().items():
        for one, two in zip(jax.tree.leaves(ours(*arrays)), jax.tree.leaves(twin(*arrays)), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-3, atol=1e-3)
        _ratio(name, ours, twin, arrays)
        _ratio("  gradient", _gradient(ours, arrays), _gradient(twin, arrays), arrays)


def _gradient(function: Call, arrays: tuple[Any, ...]) -> Call:
    def loss(*arrays: Any) -> Any:
        return sum(jnp.sum(x * x) for x in jax.tree.leaves(function(*arrays)) if x.dtype.kind == "f")

    return jax.jit(jax.grad(loss, argnums=tuple(k for k, a in enumerate(arrays) if a.dtype.kind == "f")))


def _ratio(label: str, ours: Call, twin: Call, arrays: tuple[Any, ...]) -> None:
    calls = [lambda f=f: jax.block_until_ready(f(*arrays)) for f in (ours, twin)]
    one, two = alternating(calls, clock=time.process_time)
    row(label, f"{one / two:.2f} x", f"at most 1.1 x   (twin {two * 1e3:.1f} ms)")


if __name__ == "__main__":
    main()
