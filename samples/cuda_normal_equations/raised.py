"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("nx", "ny"))
def matvec(nx, ny, A, x, tmp):
    """tmp = A x

    tmp[i] = sum_j A[i, j] * x[j]  for 0 <= i < nx
    """
    A2 = A[: nx * ny].reshape(nx, ny)
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        return tmp.at[:nx].set(A2 @ x[:ny])  # kernel.cu:9


@partial(jax.jit, static_argnames=("nx", "ny"))
def matvec_transposed(nx, ny, A, y, tmp):
    """y = A^T tmp

    y[j] = sum_i A[i, j] * tmp[i]  for 0 <= j < ny
    """
    A2 = A[: nx * ny].reshape(nx, ny)
    with jax.default_matmul_precision("float32"):  # no TF32 (GPU), no bfloat16 (TPU)
        return y.at[:ny].set(tmp[:nx] @ A2)  # kernel.cu:20


@partial(jax.jit, static_argnames=("nx", "ny"))
def normal_equations(nx, ny, A, x, y, tmp):
    tmp = matvec(nx, ny, A, x, tmp)  # kernel.cu:27
    y = matvec_transposed(nx, ny, A, y, tmp)  # kernel.cu:29
    return y, tmp
