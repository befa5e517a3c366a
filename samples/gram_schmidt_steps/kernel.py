"""Orthonormal columns by the modified Gram-Schmidt method, a launch for each step of each column."""

import math

import numpy as np
from numba import cuda


@cuda.jit
def norms(a, r, k):
    """The length of column k."""
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i, k] * a[i, k]
    r[k, k] = math.sqrt(s)


@cuda.jit
def scale(a, q, r, k):
    i = cuda.grid(1)
    if i < a.shape[0]:
        q[i, k] = a[i, k] / r[k, k]


@cuda.jit
def project(a, q, r, k):
    """Takes column k out of the columns behind it."""
    j = cuda.grid(1) + k + 1
    if j < a.shape[1]:
        s = 0.0
        for i in range(a.shape[0]):
            s += q[i, k] * a[i, j]
        r[k, j] = s
        for i in range(a.shape[0]):
            a[i, j] -= q[i, k] * s


def gram_schmidt(a):
    m, n = a.shape
    d_a = cuda.to_device(a)
    d_q = cuda.device_array((m, n), np.float32)
    d_r = cuda.to_device(np.zeros((n, n), np.float32))
    for k in range(n):
        norms[1, 1](d_a, d_r, k)
        scale[(m + 63) // 64, 64](d_a, d_q, d_r, k)
        project[(n + 63) // 64, 64](d_a, d_q, d_r, k)
    return d_q.copy_to_host(), d_r.copy_to_host()
