"""Sums in two steps by hand: a block of the second step sums no more than 128 of the first."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def block_sum(x, partial, n):
    return jnp.pad(x[:n], (0, -n % 128)).reshape(-1, 128).sum(axis=1)


@partial(jax.jit, static_argnames="n")
def sum(d_x, n):
    return d_x[: min(n, 128 * 128)].sum()


@partial(jax.jit, static_argnames="n")
def sum_on_host(d_x, n):
    return d_x[:n].sum()


def large(rng):
    x, n = rng.random(1 << 20, "f"), (1 << 20) - 9
    return {
        "block_sum": {"x": x, "partial": x[: 1 << 13], "n": n, "grid": 1 << 13, "block": 128},
        "sum": {"d_x": x, "n": 16_000},
        "sum_on_host": {"d_x": x, "n": n},
    }
