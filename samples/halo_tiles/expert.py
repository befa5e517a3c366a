"""Two stencils in a plane by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def relax(u, v):
    return v.at[1:-1, 1:-1].set(0.25 * (u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1]))


@jax.jit
def steepest(u, v):
    p = jnp.pad(u, 1)
    across = jnp.maximum(jnp.abs(u - p[1:-1, :-2]), jnp.abs(u - p[1:-1, 2:]))
    return jnp.maximum(across, jnp.maximum(jnp.abs(u - p[:-2, 1:-1]), jnp.abs(u - p[2:, 1:-1])))


def large(rng):
    given = {"u": rng.random((1000, 1200)), "v": rng.random((1000, 1200))}
    return {"relax": given, "steepest": given}
