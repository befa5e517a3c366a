"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def conv2d(image, mask, out):
    """Same-size 2-D filter; pixels outside the image count as zero.

    out[i, j] = sum_(k, l where i + k - mask.shape[0] // 2 >= 0 and i + k - mask.shape[0] // 2 <
        rows and j + l - mask.shape[1] // 2 >= 0 and j + l - mask.shape[1] // 2 < cols) mask[k, l] *
        image[i + k - mask.shape[0] // 2, j + l - mask.shape[1] // 2]
        for 0 <= i < rows, 0 <= j < cols
    """
    rows, cols = image.shape
    mask_rows, mask_cols = mask.shape
    i = jnp.arange(rows)
    k = jnp.arange(mask_rows)
    difference = i[:, None] + k - mask_rows // 2
    j = jnp.arange(cols)
    l = jnp.arange(mask_cols)
    difference_2 = j[:, None] + l - mask_cols // 2
    mask_2 = (
        (difference[:, None, :, None] >= 0)
        & (difference[:, None, :, None] < rows)
        & (difference_2[:, None, :] >= 0)
        & (difference_2[:, None, :] < cols)
    )
    return out.at[:rows, :cols].set(
        jnp.sum(
            jnp.where(
                mask_2,
                mask
                * jnp.where(
                    mask_2,
                    image[
                        jnp.clip(difference[:, None, :, None], 0, rows - 1),
                        jnp.clip(difference_2[:, None, :], 0, cols - 1),
                    ],
                    0,
                ),
                0,
            ),
            axis=(2, 3),
        )
    )  # kernel.py:20
