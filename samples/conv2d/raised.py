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
    j = jnp.arange(cols)
    l = jnp.arange(mask_cols)
    return out.at[:rows, :cols].set(
        jnp.einsum(
            "kl,ikjl->ij",
            mask,
            jnp.pad(
                image,
                (
                    (mask_rows // 2, max(mask_rows - mask_rows // 2 - 1, 0)),
                    (mask_cols // 2, max(mask_cols - mask_cols // 2 - 1, 0)),
                ),
            )[i[:, None, None, None] + k[:, None, None], j[:, None] + l],
        )
    )  # kernel.py:20
