from numba import cuda


@cuda.jit
def two_hop_sum(ptr, nbr, w, x, y):
    """y = A (A x), row by row"""
    i = cuda.grid(1)
    if i < y.size:
        s = 0.0
        for k in range(ptr[i], ptr[i + 1]):
            j = nbr[k]
            t = 0.0
            for m in range(ptr[j], ptr[j + 1]):
                t += w[m] * x[nbr[m]]
            s += w[k] * t
        y[i] = s
