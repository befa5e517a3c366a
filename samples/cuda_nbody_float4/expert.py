"""Accelerations of all bodies by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames="n")
def accelerations(pos, acc, n):
    r = pos[:n, :3] - pos[:n, None, :3]
    s = pos[:n, 3] * jax.lax.rsqrt((r * r).sum(axis=2) + 1e-3) ** 3
    return acc.at[:n].set((r * s[:, :, None]).sum(axis=1))


def large(rng):
    return {"accelerations": {"pos": rng.random((1000, 4), "f"), "acc": rng.random((1000, 3), "f"), "n": 1000}}
