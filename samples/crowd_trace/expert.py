"""Walkers that attract each other, by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="steps")
def crowd_trace(x, v, spread, dt, steps):
    @jax.checkpoint  # pairs are made again: not steps x n x n of them kept
    def step(state, _):
        x, v = state
        d = x - x[:, None]
        v = v + dt * (d / (1.0 + d * d)).sum(axis=1)
        x = x + dt * v
        return (x, v), x @ x

    (x, v), trace = jax.lax.scan(step, (x, v), length=steps)
    return x, v, spread.at[:steps].set(trace)


def large(rng):
    x, v = rng.random((2, 500), "f")
    return {"crowd_trace": {"x": x, "v": v, "spread": x[:9], "dt": 0.01, "steps": 8}}
