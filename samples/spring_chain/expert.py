"""A chain of springs by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def spring_chain(x, rest, stiffness, energy, force, pinned, n):
    stretch = jnp.abs(x[1:] - x[:-1]) - rest[: n - 1]
    each, pull = 0.25 * stiffness * stretch**2, stiffness * stretch
    e = jnp.pad(each, (0, 1)) + jnp.pad(each, (1, 0))
    return e, jnp.where(pinned, 0, jnp.pad(pull, (0, 1)) - jnp.pad(pull, (1, 0)))


def large(rng):
    n = 1_000_000
    given = {name: rng.random(n, "f") for name in ("x", "rest", "energy", "force")}
    return {"spring_chain": given | {"stiffness": 1.5, "pinned": rng.random(n) > 0.9, "n": n}}
