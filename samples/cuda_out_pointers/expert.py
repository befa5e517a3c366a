"""Points turned by twice their own angle, by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def spin(points, radius, angle, n):
    x, y = points[:n, 0], points[:n, 1]
    a = jnp.arctan2(y, x)
    c, s = jnp.cos(2.0 * a), jnp.sin(2.0 * a)
    turned = jnp.stack((c * x - s * y, s * x + c * y), axis=1)
    return points.at[:n].set(turned), radius.at[:n].set(jnp.hypot(x, y)), angle.at[:n].set(a)


def large(rng):
    n = 300_000
    points, radius = 0.2 + rng.random((n, 2), "f"), rng.random(n, "f")
    return {"spin": {"points": points, "radius": radius, "angle": radius, "n": n}}
