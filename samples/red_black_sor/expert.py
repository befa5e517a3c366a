"""Over-relaxation by colours by hand: masks of a chequerboard."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="sweeps")
def red_black_sor(u, f, omega, sweeps):
    i, j = jnp.ogrid[1 : u.shape[0] - 1, 1 : u.shape[1] - 1]

    def sweep(_, u):
        for colour in (0, 1):
            mid = u[1:-1, 1:-1]
            r = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - f[1:-1, 1:-1]
            own = (i + j + colour) % 2 == 1
            u = u.at[1:-1, 1:-1].set(jnp.where(own, mid + omega * (0.25 * r - mid), mid))
        return u

    return jax.lax.fori_loop(0, sweeps, sweep, u)


def large(rng):
    u = rng.random((400, 500), "f")
    return {"red_black_sor": {"u": u, "f": u[::-1].copy(), "omega": 1.3, "sweeps": 10}}
