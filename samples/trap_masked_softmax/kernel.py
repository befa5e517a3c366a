import math

from numba import cuda


@cuda.jit
def masked_softmax(y, x, bias):
    """Softmax with a bias of 0 or -inf on each entry; a row of which nothing is left is zero."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        m = -math.inf
        for j in range(x.shape[1]):
            m = max(m, x[i, j] + bias[i, j])
        if m == -math.inf:
            for j in range(x.shape[1]):
                y[i, j] = 0.0
        else:
            s = 0.0
            for j in range(x.shape[1]):
                s += math.exp(x[i, j] + bias[i, j] - m)
            for j in range(x.shape[1]):
                y[i, j] = math.exp(x[i, j] + bias[i, j] - m) / s
