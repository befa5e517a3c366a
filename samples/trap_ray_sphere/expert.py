"""Rays and a circle by hand; a ray that touches it has a root of zero, whose slope is left out where it looks away."""

import jax
import jax.numpy as jnp


@jax.jit
def ray_sphere(t, ox, oy, dx, dy, radius):
    b = ox * dx + oy * dy
    disc = b * b - (ox * ox + oy * oy - radius * radius) * (dx * dx + dy * dy)
    hit, cuts = disc >= 0, disc > 0
    root = jnp.where(cuts, jnp.sqrt(jnp.where(cuts, disc, 1)), 0)
    near, far = -b - root, -b + root
    return jnp.where(hit, jnp.where(near > 0, near, jnp.where(far > 0, far, -1)), -1)


def large(rng):
    t, ox, oy, dx, dy = rng.random((5, 200_000))
    return {"ray_sphere": {"t": t, "ox": 4 * ox - 3, "oy": oy, "dx": dx, "dy": dy - 0.5, "radius": 1.0}}
