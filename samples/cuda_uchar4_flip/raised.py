"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("columns", "lines"))
def mirror(picture, columns, lines, shift):
    """Mirrors an RGBA picture left to right, in place, and darkens it.

    picture[line, column, 0] = picture[line, columns - column - 1, 0] >> shift
        for 0 <= column < columns / 2, 0 <= line < lines
    picture[line, column, 1] = picture.0[line, columns - column - 1, 1]
        for 0 <= column < columns / 2, 0 <= line < lines
    picture[line, column, 2] = picture.0[line, columns - column - 1, 2]
        for 0 <= column < columns / 2, 0 <= line < lines
    picture[line, column, 3] = picture.0[line, columns - column - 1, 3]
        for 0 <= column < columns / 2, 0 <= line < lines
    picture[line, column, 0] = picture.0[line, columns - column - 1, 0] >> shift
        for columns - columns / 2 <= column < columns, 0 <= line < lines
    picture[line, column, 1] = picture.0[line, columns - column - 1, 1]
        for columns - columns / 2 <= column < columns, 0 <= line < lines
    picture[line, column, 2] = picture.0[line, columns - column - 1, 2]
        for columns - columns / 2 <= column < columns, 0 <= line < lines
    picture[line, column, 3] = picture.0[line, columns - column - 1, 3]
        for columns - columns / 2 <= column < columns, 0 <= line < lines
    """
    picture3 = picture[: lines * columns].reshape(lines, columns, 4)
    picture3_2 = picture3.at[:, : columns // 2].set(
        jnp.stack(
            (
                (
                    picture3[:, max(columns - columns // 2, 0) :, 0][:, ::-1].astype(
                        jnp.int32
                    )
                    >> shift
                ).astype(jnp.uint8),
                picture3[:, max(columns - columns // 2, 0) :, 1][:, ::-1],
                picture3[:, max(columns - columns // 2, 0) :, 2][:, ::-1],
                picture3[:, max(columns - columns // 2, 0) :, 3][:, ::-1],
            ),
            axis=2,
        )
    )  # kernel.cu:10
    picture3_2 = picture3_2.at[:, max(columns - columns // 2, 0) :].set(
        jnp.stack(
            (
                (
                    picture3[:, : columns // 2, 0][:, ::-1].astype(jnp.int32) >> shift
                ).astype(jnp.uint8),
                picture3[:, : columns // 2, 1][:, ::-1],
                picture3[:, : columns // 2, 2][:, ::-1],
                picture3[:, : columns // 2, 3][:, ::-1],
            ),
            axis=2,
        )
    )  # kernel.cu:11
    return picture.at[: lines * columns].set(picture3_2.reshape(-1, 4))
