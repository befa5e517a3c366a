"""Two buffers that change places, by hand: two rounds at a time."""

from functools import partial

import jax
import jax.numpy as jnp


def _pairs(into, a, b, rounds):
    """Both buffers after some rounds that go to and fro."""

    def two(_, pair):
        a, b = pair
        b = into(b, a)
        return into(a, b), b

    a, b = jax.lax.fori_loop(0, rounds // 2, two, (a, b))
    return (a, into(b, a)) if rounds % 2 else (a, b)


@partial(jax.jit, static_argnames="rounds")
def cool_rod(hot, cold, rounds, k):
    def into(later, now):
        return later.at[1:-1].set(now[1:-1] + k * (now[:-2] - 2.0 * now[1:-1] + now[2:]))

    return _pairs(into, hot, cold, rounds)


@partial(jax.jit, static_argnames=("n", "rounds"))
def smooth_ring(a, b, out, n, rounds):
    def into(_, u):
        return 0.25 * (jnp.roll(u, 1) + 2.0 * u + jnp.roll(u, -1))

    x, y = _pairs(into, a[:n], b[:n], rounds)
    return a.at[:n].set(x), b.at[:n].set(y), out.at[:n].set(y if rounds % 2 else x)


def large(rng):
    a, b, out = rng.random((3, 100_000), "f")
    return {
        "cool_rod": {"hot": a, "cold": b, "rounds": 21, "k": 0.2},
        "smooth_ring": {"a": a[:1024], "b": b[:1024], "out": out[:1024], "n": 1024, "rounds": 501},
    }
