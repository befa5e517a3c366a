"""A chain of springs by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def spring_chain(x, rest, stiffness, energy, force, pinned, n):
    stretch = jnp.abs(x[1:n] - x[: n - 1]) - rest[: n - 1]
    each, pull = 0.25 * stiffness * stretch**2, stiffness * stretch
    e = jnp.pad(each, (0, 1)) + jnp.pad(each, (1, 0))
    f = jnp.where(pinned[:n], 0, jnp.pad(pull, (0, 1)) - jnp.pad(pull, (1, 0)))
    return energy.at[:n].set(e), force.at[:n].set(f)


def large(rng):
    n = 1_000_000
    given = {name: rng.random(n, "f") for name in ("x", "rest", "energy", "force")}
    return {"spring_chain": given | {"stiffness": 1.5, "pinned": rng.random(n) > 0.9, "n": n}}
