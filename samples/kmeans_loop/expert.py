"""Lloyd's algorithm by hand."""

from functools import partial

import jax
import jax.numpy as jnp


def _nearest(points, centres):
    d = points[:, None] - centres
    return (d * d).sum(axis=2).argmin(axis=1).astype(jnp.int32)


def _members(points, label, k):
    return jax.ops.segment_sum(points, label, k), jax.ops.segment_sum(jnp.ones_like(points[:, 0]), label, k)


def _moved(total, count, centres):
    some = count[:, None] > 0
    return jnp.where(some, total / jnp.where(some, count[:, None], 1), centres)


@jax.jit
def assign(points, centres, label):
    return _nearest(points, centres)


@jax.jit
def accumulate(points, label, total, count):
    more, members = _members(points, label, count.size)
    return total + more, count + members


@jax.jit
def update(total, count, centres):
    return _moved(total, count, centres)


@partial(jax.jit, static_argnames="rounds")
def kmeans(points, start, rounds):
    def turn(_, state):
        label = _nearest(points, state[0])
        return _moved(*_members(points, label, len(start)), state[0]), label

    return jax.lax.fori_loop(0, rounds, turn, (start, jnp.zeros(len(points), jnp.int32)))


def large(rng):
    points, centres = rng.random((20_000, 3), "f"), rng.random((12, 3), "f")
    label = rng.integers(0, 12, 20_000).astype("int32")
    sums = {"total": centres + 1, "count": centres[:, 0]}
    return {
        "assign": {"points": points, "centres": centres, "label": label},
        "accumulate": {"points": points, "label": label} | sums,
        "update": sums | {"centres": centres},
        "kmeans": {"points": points, "start": centres, "rounds": 5},
    }
