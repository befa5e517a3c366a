"""A step of a chip's temperature by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("rows", "cols"))
def chip_temperature(temp, power, result, rows, cols, cap, rx, ry, rz):
    t, p = temp.reshape(rows, cols), power.reshape(rows, cols)
    e = jnp.pad(t, 1, mode="edge")
    north, south, west, east = e[:-2, 1:-1], e[2:, 1:-1], e[1:-1, :-2], e[1:-1, 2:]
    flow = (south + north - 2 * t) * ry + (east + west - 2 * t) * rx + (80.0 - t) * rz
    return (t + cap * (p + flow)).ravel()


def large(rng):
    temp = 40 + 50 * rng.random(800 * 1000, "f")
    sizes = {"rows": 800, "cols": 1000, "cap": 0.5, "rx": 0.1, "ry": 0.2, "rz": 0.01}
    return {"chip_temperature": {"temp": temp, "power": rng.random(800_000, "f"), "result": 0 * temp} | sizes}
