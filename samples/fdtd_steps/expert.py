"""Maxwell's equations on a staggered grid by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames="steps")
def simulate(ez, hx, hy, c, steps):
    def step(_, fields):
        ez, hx, hy = fields
        hx = hx.at[:, :-1].add(-c * (ez[:, 1:] - ez[:, :-1]))
        hy = hy.at[:-1].add(c * (ez[1:] - ez[:-1]))
        curl = hy[1:, 1:] - hy[:-1, 1:] - hx[1:, 1:] + hx[1:, :-1]
        return ez.at[1:, 1:].add(c * curl), hx, hy

    return jax.lax.fori_loop(0, steps, step, (ez, hx, hy))


def large(rng):
    return {"simulate": {name: rng.random((300, 400)) for name in ("ez", "hx", "hy")} | {"c": 0.3, "steps": 20}}
