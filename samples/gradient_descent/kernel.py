"""Linear least squares by gradient descent, the loss of every epoch recorded on the host."""

import numpy as np
from numba import cuda


@cuda.jit
def grad_step(w, g, lr):
    i = cuda.grid(1)
    if i < w.size:
        w[i] -= lr * g[i]


@cuda.jit
def residual(X, w, y, r):
    i = cuda.grid(1)
    if i < X.shape[0]:
        s = 0.0
        for j in range(X.shape[1]):
            s += X[i, j] * w[j]
        r[i] = s - y[i]


@cuda.jit
def gradient(X, r, g):
    j = cuda.grid(1)
    if j < X.shape[1]:
        s = 0.0
        for i in range(X.shape[0]):
            s += X[i, j] * r[i]
        g[j] = 2.0 * s / X.shape[0]


def fit(X, y, w0, lr, epochs, tol):
    m, n = X.shape
    d_w = cuda.to_device(w0)
    d_r = cuda.device_array(m, dtype=np.float32)
    d_g = cuda.device_array(n, dtype=np.float32)
    losses = np.zeros(epochs, dtype=np.float32)
    stream = cuda.stream()
    for e in range(epochs):
        residual[(m + 31) // 32, 32, stream](X, d_w, y, d_r)
        gradient[(n + 31) // 32, 32, stream](X, d_r, d_g)
        grad_step.forall(n)(d_w, d_g, lr)
        r = d_r.copy_to_host(stream=stream)
        losses[e] = np.mean(r * r)
        if losses[e] < tol:
            break
    return d_w.copy_to_host(), losses
