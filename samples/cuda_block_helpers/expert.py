"""Rows and blocks reduced, bytes counted and all pairs, by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="cols")
def absmax(x, out, cols):
    return jnp.abs(x).reshape(-1, cols).max(axis=1)


@partial(jax.jit, static_argnames=("n", "grid", "block"))
def largest(x, out, n, *, grid, block):
    rows = jnp.pad(x[:n], (0, grid * block - n), constant_values=-1.0)
    return rows.reshape(grid, block).max(axis=1)


@partial(jax.jit, static_argnames="size")
def rms_norm(o, x, w, size):
    x = x[:size]
    return o.at[:size].set(w[:size] * x * jax.lax.rsqrt(x @ x / size + 1e-5))


@partial(jax.jit, static_argnames="n")
def byte_counts(data, n, counts):
    return counts.at[data[:n]].add(1)


@partial(jax.jit, static_argnames="n")
def pulls(p, acc, n):
    x, y, z, mass = p[:n].T
    dx, dy, dz = x - x[:, None], y - y[:, None], z - z[:, None]
    s = mass * jax.lax.rsqrt(dx * dx + dy * dy + dz * dz + 1e-2) ** 3
    return acc.at[:n].set(jnp.stack([(d * s).sum(axis=1) for d in (dx, dy, dz)], axis=1))


def large(rng):
    n = 1 << 19
    x, y, w = rng.random((3, n), "f")
    data, counts = rng.integers(0, 256, n).astype("uint8"), rng.integers(0, 9, 256).astype("uint32")
    bodies = rng.random((600, 4), "f")
    return {
        "absmax": {"x": x - 0.5, "out": y[: n // 512], "cols": 512, "grid": n // 512, "block": 128},
        "largest": {"x": x, "out": y[: n // 64], "n": n - 9, "grid": n // 64, "block": 64},
        "rms_norm": {"o": y, "x": x, "w": w, "size": n - 9},
        "byte_counts": {"data": data, "n": n - 9, "counts": counts, "grid": 64, "block": 256},
        "pulls": {"p": bodies, "acc": bodies[:, :3], "n": 600, "grid": 10, "block": 64},
    }
