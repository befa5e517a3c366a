"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


def rounds_at_once(many):
    """How many rounds of a loop to unroll: a launch of a GPU costs more than a round, a CPU's cache prefers one."""
    return 1 if jax.default_backend() == "cpu" else many


@partial(jax.jit, static_argnames=("samples", "threads"))
def estimate_pi(seeds, estimate, samples, threads):
    """the estimate of pi of each thread, from its own stream of random numbers

    state, hits = seeds[i], 0  for 0 <= i < threads
    for s = 0 ... samples - 1:
        all at once:
            state = (state * 1664525 + 1013904223) * 1664525 + 1013904223
            hits = hits + 1 if x * x + y * y <= 1.0 else hits
    seeds[i] = state  for 0 <= i < threads
    estimate[i] = 4.0 * hits / samples  for 0 <= i < threads
    """
    ratio = 1.0 / 16777216.0

    def step(_, state_2):
        state, hits = state_2
        state_3 = state * 1664525 + 1013904223  # kernel.cu:12
        state_4 = state_3 * 1664525 + 1013904223  # kernel.cu:14
        x = (state_3 >> 8).astype(jnp.float32) * ratio  # kernel.cu:13
        y = (state_4 >> 8).astype(jnp.float32) * ratio  # kernel.cu:15
        hits_2 = jnp.where(x * x + y * y <= 1.0, hits + 1, hits)
        return state_4, hits_2

    state, hits = jax.lax.fori_loop(
        0,
        samples,
        step,
        (seeds[:threads], jnp.zeros(threads, jnp.int32)),
        unroll=rounds_at_once(32),
    )  # kernel.cu:11
    seeds = seeds.at[:threads].set(state)  # kernel.cu:18
    estimate = estimate.at[:threads].set(
        4.0 * hits.astype(jnp.float32) / jnp.asarray(samples, jnp.float32)
    )  # kernel.cu:19
    return seeds, estimate
