"""A rod relaxed with sources by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("n", "rounds"))
def main(source, rod, n=4096, rounds=100):
    inner = source[1 : n - 1]

    def step(_, u):
        return u.at[1:-1].set(0.5 * (u[:-2] + u[2:]) + inner)

    return rod.at[:n].set(jax.lax.fori_loop(0, rounds, step, rod[:n]))


def large(rng):
    source, rod = rng.random((2, 200_000), "f")
    return {"main": {"source": 0.1 * source, "rod": rod, "n": rod.size, "rounds": 20}}
