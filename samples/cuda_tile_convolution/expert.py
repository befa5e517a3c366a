"""A filter of 5 x 5 by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("width", "height"))
def tile_convolution(image, filter, out, width, height):
    p, f = jnp.pad(image.reshape(height, width), 2), filter.reshape(5, 5)
    return sum(f[i, j] * p[i : i + height, j : j + width] for i in range(5) for j in range(5)).ravel()


def large(rng):
    image = rng.random(800_000, "f")
    given = {"image": image, "filter": rng.random(25, "f"), "out": 0 * image, "width": 1000, "height": 800}
    return {"tile_convolution": given | {"grid": (63, 50), "block": (16, 16)}}
