"""A rod relaxed and a smoothed difference by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("cells", "rounds"))
def relax_rod(now, next, cells, rounds):
    def step(_, u):
        return u.at[1:-1].add(0.25 * (u[:-2] - 2.0 * u[1:-1] + u[2:]))

    u = jax.lax.fori_loop(0, rounds, step, now[:cells])
    inner = slice(1, cells - 1)
    return now.at[inner].set(u[1:-1]), next.at[inner].set(u[1:-1]) if rounds > 0 else next


@partial(jax.jit, static_argnames="n")
def smooth_then_differ(x, smooth, rough, n):
    mean = (x[: n - 2] + x[1 : n - 1] + x[2:n]) / 3.0
    return smooth.at[1 : n - 1].set(mean), rough.at[2 : n - 2].set(mean[2:] - mean[:-2])


def large(rng):
    x, y, z = rng.random((3, 300_000), "f")
    return {
        "relax_rod": {"now": x, "next": y, "cells": x.size, "rounds": 20},
        "smooth_then_differ": {"x": x, "smooth": y, "rough": z, "n": x.size},
    }
