"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def visits(slot, weight, count, tickets, hour, n):
    """visits of the slots of a ring: each counts 0 ... 5 and begins again; a stock of tickets runs down and is filled up
    again; one counter tells the hour of the day

    count_hits[slot[i]] += 1  for 0 <= i < n
    count[cell] = (min(count[cell], 5) + count_hits[cell]) % 6 if count_hits[cell] > 0 else count[cell]
        for 0 <= cell < count.shape[0]
    tickets_hits[slot[i]] += 1  for 0 <= i < n, where weight[i] > 0.5
    tickets[cell] = 9 - (9 - (0 if tickets[cell] > 9 else tickets[cell]) + tickets_hits[cell]) % 10
        if tickets_hits[cell] > 0 else tickets[cell]
        for 0 <= cell < tickets.shape[0]
    hour[0] = (min(hour[0], 23) + sum_i 1) % 24 if sum_i 1 > 0 else hour[0]
    """
    count_hits = jnp.zeros(count.shape[0], jnp.uint32)  # kernel.cu:6
    count_hits = count_hits.at[slot[:n]].add(1)  # kernel.cu:6
    count = jnp.where(
        count_hits > 0, (jnp.minimum(count, 5) + count_hits) % 6, count
    )  # kernel.cu:6
    tickets_hits = jnp.zeros(tickets.shape[0], jnp.uint32)  # kernel.cu:7
    tickets_hits = tickets_hits.at[slot[:n]].add(
        jnp.where(weight[:n] > 0.5, 1, 0).astype(jnp.uint32)
    )  # kernel.cu:7
    tickets = jnp.where(
        tickets_hits > 0,
        9 - (9 - jnp.where(tickets > 9, 0, tickets) + tickets_hits) % 10,
        tickets,
    )  # kernel.cu:7
    hour_hits = n * 1
    hour = hour.at[0].set(
        jnp.where(
            hour_hits > 0, (jnp.minimum(hour[0], 23) + hour_hits) % 24, hour[0]
        ).astype(hour.dtype)
    )  # kernel.cu:8
    return count, tickets, hour
