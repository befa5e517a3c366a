"""Edges by two masks by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("width", "height"))
def edge_strength(image, strength, width, height):
    """Each tap of the source's masks, those of factor 0 too: they pass on what is not finite."""
    a = image.reshape(height, width)

    def filtered(mask):
        rows = [sum(m * a[i : height - 2 + i] for i, m in enumerate(column)) for column in zip(*mask, strict=True)]
        return sum(r[:, j : width - 2 + j] for j, r in enumerate(rows))

    sx = filtered(((-3.0, 0.0, 3.0), (-10.0, 0.0, 10.0), (-3.0, 0.0, 3.0)))
    sy = filtered(((-3.0, -10.0, -3.0), (0.0, 0.0, 0.0), (3.0, 10.0, 3.0)))
    new = jnp.sqrt(sx * sx + sy * sy + 1e-6)
    return strength.reshape(height, width).at[1:-1, 1:-1].set(new).ravel()


def large(rng):
    a = rng.random(1000 * 900, "f")
    return {"edge_strength": {"image": a, "strength": 0 * a, "width": 1000, "height": 900}}
