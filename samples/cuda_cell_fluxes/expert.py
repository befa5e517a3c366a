"""Fluxes between cells by hand: each once, and their differences."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def advance(u, next, ratio, speed, n):
    a, b = u[:-1], u[1:]
    fastest = jnp.maximum(jnp.abs(a), jnp.abs(b)) + speed
    flux = 0.25 * (a * a + b * b) - 0.5 * fastest * (b - a)
    return next.at[1:-1].set(u[1:-1] - ratio * (flux[1:] - flux[:-1]))


@partial(jax.jit, static_argnames=("w", "h"))
def smooth(image, out, edge, rate, w, h):
    a = image.reshape(h, w)
    down, across = a[1:, 1:-1] - a[:-1, 1:-1], a[1:-1, 1:] - a[1:-1, :-1]
    down, across = (d * jnp.exp(-d * d / (edge * edge)) for d in (down, across))
    inner = a[1:-1, 1:-1] + rate * (down[1:] - down[:-1] + across[:, 1:] - across[:, :-1])
    return out.reshape(h, w).at[1:-1, 1:-1].set(inner).ravel()


def large(rng):
    u, image = rng.random(1 << 18, "f"), rng.random(600 * 800, "f")
    return {
        "advance": {"u": u, "next": 0 * u, "ratio": 0.2, "speed": 0.1, "n": u.size},
        "smooth": {"image": image, "out": 0 * image, "edge": 0.5, "rate": 0.2, "w": 800, "h": 600},
    }
