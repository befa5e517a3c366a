from numba import cuda, float32


@cuda.jit
def coarse_rows(x, w, y):
    """four sums a thread, in an array of its own"""
    i = cuda.grid(1)
    if i < y.shape[0]:
        acc = cuda.local.array(4, float32)
        for j in range(4):
            acc[j] = 0.0
        for k in range(x.shape[1]):
            for j in range(4):
                acc[j] += x[i, k] * w[k, j]
        for j in range(4):
            y[i, j] = acc[j]


@cuda.jit
def sorted_pair(x, y):
    """the two smallest of three, by exchanges"""
    i = cuda.grid(1)
    t = cuda.local.array(3, float32)
    if i < y.shape[0]:
        for j in range(3):
            t[j] = x[i, j]
        if t[0] > t[1]:
            a = t[0]
            t[0] = t[1]
            t[1] = a
        if t[1] > t[2]:
            b = t[1]
            t[1] = t[2]
            t[2] = b
        y[i] = t[0] + 2.0 * t[1]


@cuda.jit
def row_scale(m, w, out):
    """one block a row, its threads stride over the columns"""
    r = cuda.blockIdx.x
    if r < m.shape[0]:
        for c in range(cuda.threadIdx.x, m.shape[1], cuda.blockDim.x):
            out[r, c] = m[r, c] * w[r]


@cuda.jit
def mirror_in_block(x, y):
    """each block reverses its own part"""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + t
    s[t] = x[i]
    cuda.syncthreads()
    y[i] = s[cuda.blockDim.x - 1 - t]
