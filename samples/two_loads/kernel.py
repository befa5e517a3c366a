from numba import cuda, float32

TPB = 4


@cuda.jit
def two_loads(x, out, n):
    """each thread adds two elements first, and keeps its sum in a register"""
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * (cuda.blockDim.x * 2) + t
    v = 0.0
    if i < n:
        v = x[i]
    if i + cuda.blockDim.x < n:
        v += x[i + cuda.blockDim.x]
    s[t] = v
    cuda.syncthreads()
    w = cuda.blockDim.x // 2
    while w > 0:
        if t < w:
            s[t] = v = v + s[t + w]
        cuda.syncthreads()
        w //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@cuda.jit
def dot_const(a, b, c, n):
    """a dot product by blocks of a fixed size"""
    s = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tmp = 0.0
    while i < n:
        tmp += a[i] * b[i]
        i += cuda.blockDim.x * cuda.gridDim.x
    s[t] = tmp
    cuda.syncthreads()
    k = TPB // 2
    while k != 0:
        if t < k:
            s[t] += s[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        c[cuda.blockIdx.x] = s[0]


@cuda.jit
def serial_sum(x, out, n):
    """one thread sums what its block has loaded"""
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < n else 0.0
    cuda.syncthreads()
    if t == 0:
        acc = 0.0
        for k in range(cuda.blockDim.x):
            acc += s[k]
        out[cuda.blockIdx.x] = acc
