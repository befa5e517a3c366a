"""Counters that begin again, by hand: how often each turns, and where that leaves it."""

from functools import partial

import jax
import jax.numpy as jnp


def _up(counter, times, last):
    ahead = jnp.minimum(counter, last) + times.astype(counter.dtype)
    return jnp.where(times > 0, ahead % (last + 1), counter)


def _down(counter, times, last):
    behind = jnp.where(counter > last, 0, counter) + (last * times).astype(counter.dtype)
    return jnp.where(times > 0, behind % (last + 1), counter)


@partial(jax.jit, static_argnames="n")
def visits(slot, weight, count, tickets, hour, n):
    slot = slot[:n]
    visited = jnp.zeros(count.size, jnp.int32).at[slot].add(1)
    taken = jnp.zeros(tickets.size, jnp.int32).at[slot].add(weight[:n] > 0.5)
    return _up(count, visited, 5), _down(tickets, taken, 9), _up(hour, jnp.array([n]), 23)


def large(rng):
    n, slots = 200_000, 1000
    count, tickets = rng.integers(0, 14, (2, slots)).astype("uint32")
    slot = rng.integers(0, slots, n).astype("int32")
    counters = {"count": count, "tickets": tickets, "hour": count[:1]}
    return {"visits": {"slot": slot, "weight": rng.random(n, "f"), "n": n - 9} | counters}
