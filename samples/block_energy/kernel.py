from numba import cuda, float32


@cuda.jit
def block_energy(v, mass, total):
    """Kinetic energy of the particles of each block, by a tree in shared memory."""
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = 0.5 * mass[i] * (v[i, 0] ** 2 + v[i, 1] ** 2) if i < v.shape[0] else 0.0
    cuda.syncthreads()
    w = cuda.blockDim.x // 2
    while w > 0:
        if t < w:
            s[t] += s[t + w]
        cuda.syncthreads()
        w //= 2
    if t == 0:
        total[cuda.blockIdx.x] = s[0]


def misfit(model, data, sigma, n):
    """Half the weighted sum of squares of the residuals."""
    s = 0.0
    for i in range(n):
        s += ((model[i] - data[i]) / sigma) ** 2
    return 0.5 * s
