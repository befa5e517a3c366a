"""Newton's method with two exits, and first passages, by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="most")
def kepler(mean, eccentricity, anomaly, rounds, tolerance, most):
    e = eccentricity

    def step(_, state):
        x, n, live = state
        slope = 1.0 - e * jnp.cos(x)
        live = live & (slope >= 0.05)
        change = (x - e * jnp.sin(x) - mean) / jnp.where(live, slope, 1.0)
        x, n = jnp.where(live, x - change, x), n + live
        return x, n, live & (jnp.abs(change) >= tolerance)

    start = mean, jnp.zeros_like(rounds), jnp.ones(mean.shape, bool)
    x, n, _ = jax.lax.fori_loop(0, most, step, start)
    return x, n


@jax.jit
def first_passage(steps, level, when, where):
    position = jnp.cumsum(steps, axis=1)
    past = position > level
    ever, first = past.any(axis=1), past.argmax(axis=1)
    last = jnp.where(ever, first, steps.shape[1] - 1)
    place = jnp.take_along_axis(position, last[:, None], axis=1)[:, 0]
    return jnp.where(ever, first, -1).astype(when.dtype), place


def large(rng):
    n = 50_000
    orbit = {"mean": 3 * rng.random(n, "f"), "eccentricity": 0.7 * rng.random(n, "f"), "anomaly": rng.random(n, "f")}
    walk = {"steps": 2 * rng.random((5000, 200), "f") - 1, "where": rng.random(5000, "f")}
    rounds = rng.integers(0, 9, n).astype("int32")
    return {
        "kepler": orbit | {"rounds": rounds, "tolerance": 0.01, "most": 12},
        "first_passage": walk | {"when": rounds[:5000], "level": 3.0},
    }
