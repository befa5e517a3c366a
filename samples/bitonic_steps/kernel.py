from numba import cuda


@cuda.jit
def bitonic_step(x, j, k):
    """one step of a bitonic sorting network: each pair by the thread of its lower element"""
    i = cuda.grid(1)
    if i < x.shape[0]:
        other = i ^ j
        if other > i:
            if i & k == 0:
                if x[i] > x[other]:
                    t = x[i]
                    x[i] = x[other]
                    x[other] = t
            else:
                if x[i] < x[other]:
                    t = x[i]
                    x[i] = x[other]
                    x[other] = t
