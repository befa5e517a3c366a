"""A shock tube by hand: both buffers have the same ends."""

from functools import partial

import jax


def _density(density, momentum, c):
    return 0.5 * (density[:-2] + density[2:]) - 0.5 * c * (momentum[2:] - momentum[:-2])


def _momentum(density, momentum, c):
    flux = momentum * momentum / density + density
    return 0.5 * (momentum[:-2] + momentum[2:]) - 0.5 * c * (flux[2:] - flux[:-2])


@partial(jax.jit, static_argnames="n")
def move_density(density, momentum, next, c, n):
    return next.at[1 : n - 1].set(_density(density[:n], momentum[:n], c))


@partial(jax.jit, static_argnames="n")
def move_momentum(density, momentum, next, c, n):
    return next.at[1 : n - 1].set(_momentum(density[:n], momentum[:n], c))


@partial(jax.jit, static_argnames=("n", "steps"))
def shock_tube(density, momentum, n, courant, steps):
    def step(_, gas):
        d, m = gas
        return d.at[1:-1].set(_density(d, m, courant)), m.at[1:-1].set(_momentum(d, m, courant))

    return jax.lax.fori_loop(0, steps, step, (density[:n], momentum[:n]))


def large(rng):
    n = 200_000
    density, momentum, new = rng.random((3, n), "f")
    gas = {"density": 0.8 + 0.4 * density, "momentum": 0.1 * momentum, "n": n}
    return {
        "move_density": gas | {"next": new, "c": 0.3},
        "move_momentum": gas | {"next": new, "c": 0.3},
        "shock_tube": gas | {"courant": 0.1, "steps": 20},
    }
