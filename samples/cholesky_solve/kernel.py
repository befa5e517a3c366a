"""Cholesky factorisation in place, and the two triangular solves with it."""

import math

from numba import cuda


def cholesky(A):
    n = A.shape[0]
    for k in range(n):
        A[k, k] = math.sqrt(A[k, k])
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
        for j in range(k + 1, n):
            for i in range(j, n):
                A[i, j] -= A[i, k] * A[j, k]


@cuda.jit
def solve(L, B):
    """L L^T X = B in place, one right-hand side a thread"""
    c = cuda.grid(1)
    if c < B.shape[1]:
        n = L.shape[0]
        for i in range(n):
            s = B[i, c]
            for j in range(i):
                s -= L[i, j] * B[j, c]
            B[i, c] = s / L[i, i]
        for i in range(n - 1, -1, -1):
            s = B[i, c]
            for j in range(i + 1, n):
                s -= L[j, i] * B[j, c]
            B[i, c] = s / L[i, i]
