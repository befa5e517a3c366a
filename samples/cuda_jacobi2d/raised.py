"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def jacobi2d(n, A, B):
    """one Jacobi sweep over the inside of an n x n grid

    B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for 1 <= j < n - 1, 1 <= i < n - 1
    """
    A2 = jnp.resize(A, (n, n))
    B2 = jnp.resize(B, (n - 1, n))
    B2 = B2.at[1:, 1:-1].set(
        0.2
        * (A2[1:-1, 1:-1] + A2[1:-1, :-2] + A2[1:-1, 2:] + A2[2:, 1:-1] + A2[:-2, 1:-1])
    )  # kernel.cu:9
    return B.at[: (n - 1) * n].set(B2.ravel()[: B.size])


@partial(jax.jit, static_argnames=("n", "steps"))
def relax(n, steps, A, B):
    """the host: ping-pong between two buffers"""

    def step(_, state):
        A, B = state
        B = jacobi2d(n, A, B)  # kernel.cu:18
        A = jacobi2d(n, B, A)  # kernel.cu:19
        return A, B

    return jax.lax.fori_loop(0, steps, step, (A, B))  # kernel.cu:17
