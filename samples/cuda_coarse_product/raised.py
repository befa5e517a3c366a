"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("size", "grid", "block"))
def coarse_product(left, right, product, size, *, grid=None, block=None):
    """product[ty, first] = sum_k left[ty, k] * right[k, first]  for 0 <= first < size, 0 <= ty < threads.y

    size is a multiple of 12
    a block has 4 threads along x
    a block has 4 threads along y
    """
    if grid is not None:
        grid = (*grid, 1)[:2] if isinstance(grid, tuple) else (grid, 1)
    if block is not None:
        block = (*block, 1)[:2] if isinstance(block, tuple) else (block, 1)
    if size % 12:
        raise ValueError("coarse_product: size must be a multiple of 12")
    if block is not None and block[0] != 4:
        raise ValueError("coarse_product: a block has 4 threads along x")
    if block is not None and 12 * grid[0] != size:
        raise ValueError(
            "coarse_product: the launch must be as wide as a row, with 3 elements for each thread"
        )
    if block is not None and block[1] != 4:
        raise ValueError("coarse_product: a block has 4 threads along y")
    threads_y = product.shape[0] // size if grid is None else grid[1] * block[1]
    left2 = left[: threads_y * size].reshape(threads_y, size)
    right2 = right[: size * size].reshape(size, size)
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        product2 = left2 @ right2  # kernel.cu:21
    return product.at[: threads_y * size].set(product2.ravel())
