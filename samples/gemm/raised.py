"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax


@jax.jit
def gemm(alpha, A, B, beta, C):
    """C <- alpha A B + beta C, one thread an element of C.

    C[row, col] = alpha * sum_k A[row, k] * B[k, col] + beta * C[row, col]
        for 0 <= col < C.shape[1], 0 <= row < C.shape[0]
    """
    rows, cols = C.shape
    return (alpha * (A[:rows] @ B[: A.shape[1], :cols]) + beta * C).astype(
        C.dtype
    )  # kernel.py:15
