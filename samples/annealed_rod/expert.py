"""A rod that is heated and cooled, by hand."""

import jax
import jax.numpy as jnp

STEPS = 4


def _spread(u, rate):
    return u[1:-1] + rate * (u[:-2] - 2.0 * u[1:-1] + u[2:])


@jax.jit
def spread(u, out, rate):
    return out.at[1:-1].set(_spread(u, rate))


@jax.jit
def heat(u, source, amount):
    return u + amount * source


@jax.jit
def close(u, out):
    return out.at[0].set(u[1]).at[-1].set(u[-2])


@jax.jit
def anneal(rod, source):
    def warm(_, u):
        h = u + 0.5 * source
        return jnp.concatenate((h[1:2], _spread(h, 0.25), h[-2:-1]))

    def cool(_, u):
        return u.at[1:-1].set(_spread(u - 0.25 * source, 0.125))

    warmed = jax.lax.fori_loop(0, STEPS, warm, rod)
    cooled = jax.lax.fori_loop(0, STEPS, cool, warmed)
    return cooled, warmed.max(), cooled.max()


def large(rng):
    u, out, source = rng.random((3, 1_000_000), "f")
    return {
        "spread": {"u": u, "out": out, "rate": 0.25},
        "heat": {"u": u, "source": source, "amount": 0.5},
        "close": {"u": u, "out": out},
        "anneal": {"rod": u, "source": source},
    }
