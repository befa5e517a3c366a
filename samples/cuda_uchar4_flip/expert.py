"""A picture mirrored and darkened by hand; the middle column of an odd number stays as it is."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("columns", "lines"))
def mirror(picture, columns, lines, shift):
    image = picture.reshape(lines, columns, 4)
    flipped = image[:, ::-1]
    dark = flipped.at[:, :, 0].set(flipped[:, :, 0] >> shift)
    half = columns // 2
    return dark.at[:, half : columns - half].set(image[:, half : columns - half]).reshape(picture.shape)


def large(rng):
    picture = rng.integers(0, 256, (701 * 500, 4)).astype("uint8")
    return {"mirror": {"picture": picture, "columns": 701, "lines": 500, "shift": 1}}
