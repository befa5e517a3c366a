"""Buffers that change places, and a sort, by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "steps"))
def string_wave(u0, u1, u2, n, steps):
    def step(_, buffers):
        before, now, after = buffers
        new = 2.0 * now[1:-1] - before[1:-1] + 0.1 * (now[:-2] - 2.0 * now[1:-1] + now[2:])
        return now, after.at[1:-1].set(new), before

    last = jax.lax.fori_loop(0, steps, step, (u0[:n], u1[:n], u2[:n]))
    turned = [last[(k - steps) % 3] for k in range(3)]
    return tuple(u.at[:n].set(v) for u, v in zip((u0, u1, u2), turned, strict=True))


@partial(jax.jit, static_argnames=("n", "rounds"))
def relax_pressure(p, q, last, rhs, n, rounds):
    source = rhs[1 : n - 1]

    def into(b, a):
        return b.at[1:-1].set(0.5 * (a[:-2] + a[2:] - source))

    def two(_, pair):
        a, b = pair
        b = into(b, a)
        return into(a, b), b

    a, b = jax.lax.fori_loop(0, rounds // 2, two, (p[:n], q[:n]))
    if rounds % 2:
        b = into(b, a)
    return p.at[:n].set(a), q.at[:n].set(b), last.at[:n].set(b if rounds % 2 else a)


@jax.jit
def sort_pairs(x, y):
    return y.at[:64].set(jnp.sort(x[:64]))


def large(rng):
    u = rng.random((5, 1024), "f")
    return {
        "string_wave": {"u0": u[0], "u1": u[1], "u2": u[2], "n": 1024, "steps": 50},
        "relax_pressure": {"p": u[0], "q": u[1], "last": u[2], "rhs": u[3], "n": 1024, "rounds": 51},
        "sort_pairs": {"x": u[0, :64], "y": u[1, :64]},
    }
