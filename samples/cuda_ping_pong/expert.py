"""A stencil between two buffers by hand: two steps a round, and the odd one after them."""

from functools import partial

import jax


def _smooth(a):
    return 0.25 * a[:-2] + 0.5 * a[1:-1] + 0.25 * a[2:]


@partial(jax.jit, static_argnames="n")
def stencil(in_, out, n):
    return out.at[1 : n - 1].set(_smooth(in_[:n]))


@partial(jax.jit, static_argnames=("time_steps", "n"))
def iterate(time_steps, src, dst, n):
    def into(b, a):
        return b.at[1:-1].set(_smooth(a))

    def two(_, pair):
        a, b = pair
        b = into(b, a)
        return into(a, b), b

    a, b = jax.lax.fori_loop(0, time_steps // 2, two, (src[:n], dst[:n]))
    if time_steps % 2:
        b = into(b, a)
    return src.at[:n].set(a), dst.at[:n].set(b)


@partial(jax.jit, static_argnames=("time_steps", "n"))
def smooth(host, n, time_steps):
    def step(_, a):
        return a.at[1:-1].set(_smooth(a))

    return host.at[:n].set(jax.lax.fori_loop(0, time_steps, step, host[:n]))


def large(rng):
    a, b = rng.random((2, 200_002), "f")
    return {
        "stencil": {"in_": a, "out": b, "n": 200_000},
        "iterate": {"src": a, "dst": b, "n": 200_000, "time_steps": 25},
        "smooth": {"host": a, "n": 200_000, "time_steps": 24},
    }
