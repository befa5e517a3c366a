"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax

c11 = 0.2
c21 = 0.5
c31 = -0.8
c12 = -0.3
c22 = 0.6
c32 = -0.9
c13 = 0.4
c23 = 0.7
c33 = 0.1


@partial(jax.jit, static_argnames=("ni", "nj"))
def conv3x3(A, B, ni, nj):
    """3x3 convolution with constant coefficients on the inside of the image

    B[i, j] = c11 * A[i - 1, j - 1] + c21 * A[i - 1, j] + c31 * A[i - 1, j + 1] + c12 * A[i, j - 1]
        + c22 * A[i, j] + c32 * A[i, j + 1] + c13 * A[i + 1, j - 1] + c23 * A[i + 1, j] + c33 *
        A[i + 1, j + 1]
        for 1 <= j < nj - 1, 1 <= i < ni - 1
    """
    A2 = A[: ni * nj].reshape(ni, nj)
    B2 = B[: ni * nj].reshape(ni, nj)
    B2 = B2.at[1:-1, 1:-1].set(
        c11 * A2[:-2, :-2]
        + c21 * A2[:-2, 1:-1]
        + c31 * A2[:-2, 2:]
        + c12 * A2[1:-1, :-2]
        + c22 * A2[1:-1, 1:-1]
        + c32 * A2[1:-1, 2:]
        + c13 * A2[2:, :-2]
        + c23 * A2[2:, 1:-1]
        + c33 * A2[2:, 2:]
    )  # kernel.cu:11
    return B.at[: ni * nj].set(B2.ravel())
