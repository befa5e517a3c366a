"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax


@jax.jit
def gemm(alpha, A, B, beta, C):
    """C <- alpha A B + beta C, one thread an element of C.

    C[row, col] = alpha * sum_k A[row, k] * B[k, col] + beta * C[row, col]
        for 0 <= col < N, 0 <= row < M
    """
    M, N = C.shape
    K = A.shape[1]
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        return (alpha * ((1.0 * A[:M]) @ B[:K, :N]) + beta * C).astype(
            C.dtype
        )  # kernel.py:15
