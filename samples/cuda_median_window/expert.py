"""A median of five, dot products and an oscillator by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("w", "h"))
def median_cross(img, out, w, h):
    a = img.reshape(h, w)
    v = [a[:-2, 1:-1], a[1:-1, 1:-1], a[2:, 1:-1], a[1:-1, :-2], a[1:-1, 2:]]
    for i in range(3):
        for j in range(i + 1, 5):
            v[i], v[j] = jnp.minimum(v[i], v[j]), jnp.maximum(v[i], v[j])
    return out.reshape(h, w).at[1:-1, 1:-1].set(v[2]).ravel()


@partial(jax.jit, static_argnames=("rows", "n"))
def dot_rows(a, b, out, rows, n):
    whole = n // 4 * 4
    return a.reshape(rows, n)[:, :whole] @ b[:whole]


@partial(jax.jit, static_argnames=("steps", "n"))
def van_der_pol(start, end, mu, h, steps, n):
    def slope(x, v):
        return v, mu * (1.0 - x * x) * v - x

    def step(_, y):
        x, v = y
        dx1, dv1 = slope(x, v)
        dx2, dv2 = slope(x + h * dx1, v + h * dv1)
        return x + 0.5 * h * (dx1 + dx2), v + 0.5 * h * (dv1 + dv2)

    y = start.reshape(n, 2)
    return jnp.stack(jax.lax.fori_loop(0, steps, step, (y[:, 0], y[:, 1])), axis=1).ravel()


def large(rng):
    image, start = rng.random(1_000_000, "f"), rng.random(20_000, "f")
    return {
        "median_cross": {"img": image, "out": 0 * image, "w": 1000, "h": 1000},
        "dot_rows": {"a": image, "b": image[:999], "out": image[:1001], "rows": 1001, "n": 999}
        | {"a": image[: 1001 * 999]},
        "van_der_pol": {"start": start, "end": 0 * start, "mu": 0.7, "h": 0.01, "steps": 200, "n": 10_000},
    }
