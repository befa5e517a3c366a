"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


def summed(term, *ranges, shape=None):
    """The sum of ``term(k, ...)`` over ranges: written out unless there are too many."""
    first, *others = ranges
    terms = len(first)
    for other in others:
        terms *= len(other)
    if not terms and shape is not None:
        return jnp.zeros(shape, int)

    def part(k):
        return summed(lambda *rest: term(k, *rest), *others) if others else term(k)

    if 0 < terms <= 128:
        return sum(part(k) for k in first)
    one = jax.eval_shape(part, first.start)
    axes = ",".join("abcdefgh"[: one.ndim])
    every = jnp.vectorize(part, signature=f"()->({axes})")
    return every(jnp.arange(first.start, first.stop)).sum(0, dtype=one.dtype)


@jax.jit
def conv2d(image, mask, out):
    """Same-size 2-D filter; pixels outside the image count as zero.

    out[i, j] = sum_(k, l where i + k - mask.shape[0] // 2 >= 0 and i + k - mask.shape[0] // 2 <
        rows and j + l - mask.shape[1] // 2 >= 0 and j + l - mask.shape[1] // 2 < cols) mask[k, l] *
        image[i + k - mask.shape[0] // 2, j + l - mask.shape[1] // 2]
        for 0 <= i < rows, 0 <= j < cols
    """
    mask_rows, mask_cols = mask.shape
    rows, cols = image.shape
    image_padded = jnp.pad(
        image,
        (
            (mask_rows // 2, max(mask_rows - mask_rows // 2 - 1, 0)),
            (mask_cols // 2, max(mask_cols - mask_cols // 2 - 1, 0)),
        ),
    )

    def term(k, l):
        return (
            1.0 * mask[k, l] * jax.lax.dynamic_slice(image_padded, (k, l), (rows, cols))
        )

    return out.at[:rows, :cols].set(
        summed(term, range(mask_rows), range(mask_cols), shape=image.shape)
    )  # kernel.py:20
