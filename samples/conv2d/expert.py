"""A filter of the same size by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def conv2d(image, mask, out):
    rows, cols = image.shape
    dr, dc = mask.shape[0] // 2, mask.shape[1] // 2
    p = jnp.pad(image, ((dr, dr), (dc, dc)))
    taps = ((k, m) for k in range(mask.shape[0]) for m in range(mask.shape[1]))
    return sum(mask[k, m] * p[k : k + rows, m : m + cols] for k, m in taps)


def large(rng):
    image = rng.random((1000, 1000), "f")
    return {"conv2d": {"image": image, "mask": rng.random((3, 5), "f"), "out": 0 * image}}
