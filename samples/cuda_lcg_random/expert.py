"""Pi from streams of random numbers by hand, all streams at once."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("samples", "threads"))
def estimate_pi(seeds, estimate, samples, threads):
    def uniform(state):
        state = state * jnp.uint32(1664525) + jnp.uint32(1013904223)
        return state, (state >> 8).astype(jnp.float32) * (1.0 / 16777216.0)

    def sample(_, carry):
        state, hits = carry
        state, x = uniform(state)
        state, y = uniform(state)
        return state, hits + (x * x + y * y <= 1.0)

    state, hits = jax.lax.fori_loop(0, samples, sample, (seeds[:threads], jnp.zeros(threads, jnp.int32)))
    return seeds.at[:threads].set(state), estimate.at[:threads].set(4.0 * hits / samples)


def large(rng):
    seeds = rng.integers(0, 1 << 32, 10_000, dtype="uint32")
    return {"estimate_pi": {"seeds": seeds, "estimate": rng.random(10_000, "f"), "samples": 200, "threads": 10_000}}
