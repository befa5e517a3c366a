"""Conjugate gradients: a host loop around a matrix product, dot products and vector updates."""

import math

import numpy as np
from numba import cuda

TPB = 64


@cuda.jit
def matvec(A, x, y):
    i = cuda.grid(1)
    if i < A.shape[0]:
        s = 0.0
        for j in range(A.shape[1]):
            s += A[i, j] * x[j]
        y[i] = s


@cuda.jit
def dot(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(out, 0, a[i] * b[i])


@cuda.jit
def axpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


@cuda.jit
def xpby(x, b, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] + b * y[i]


def cg(A, b, x, iters):
    n = b.size
    blocks = math.ceil(n / TPB)
    r = cuda.device_array_like(b)
    r.copy_to_device(b)
    p = cuda.device_array_like(b)
    p.copy_to_device(b)
    q = cuda.device_array_like(b)
    acc = np.zeros(1, dtype=np.float32)
    acc[0] = 0.0
    dot[blocks, TPB](r, r, acc)
    rs = acc[0]
    for it in range(iters):
        matvec[blocks, TPB](A, p, q)
        acc[0] = 0.0
        dot[blocks, TPB](p, q, acc)
        alpha = rs / acc[0]
        axpy[blocks, TPB](alpha, p, x)
        axpy[blocks, TPB](-alpha, q, r)
        acc[0] = 0.0
        dot[blocks, TPB](r, r, acc)
        rs_new = acc[0]
        if math.sqrt(rs_new) < 1e-6:
            break
        xpby[blocks, TPB](r, rs_new / rs, p)
        rs = rs_new
    return x
