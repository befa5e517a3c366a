"""Newton's rounds for roots by hand: numbers that have arrived do not change any more."""

import jax
import jax.numpy as jnp


@jax.jit
def guarded_newton(root, error, rounds, c, limit):
    positive = c > 0
    start = jnp.where(positive, c, 1)

    def turn(_, state):
        v, n, live = state
        step = (v * v - start) / (2.0 * v)
        return jnp.where(live, v - step, v), n + live, live & (jnp.abs(step) >= 1e-12)

    v, n, _ = jax.lax.fori_loop(0, 25, turn, (start, jnp.zeros_like(rounds), positive))
    apart = positive & (c > limit)
    return jnp.where(apart, v, root), jnp.where(positive & ~apart, v - 0.5 * c, error), n


def large(rng):
    root, error, c = rng.random((3, 50_000))
    rounds = rng.integers(0, 9, c.size).astype("int32")
    return {"guarded_newton": {"root": root, "error": error, "rounds": rounds, "c": 3 * c - 0.5, "limit": 1.0}}
