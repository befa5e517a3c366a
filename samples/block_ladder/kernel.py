from numba import cuda, float32

SIZE = 128


@cuda.jit
def row_products(x, y):
    """one block a row: the product of its elements, halves written out"""
    s = cuda.shared.array(SIZE, float32)
    t = cuda.threadIdx.x
    row = cuda.blockIdx.x
    s[t] = x[row, t]
    cuda.syncthreads()
    if t < 64:
        s[t] *= s[t + 64]
    cuda.syncthreads()
    if t < 32:
        s[t] *= s[t + 32]
    cuda.syncthreads()
    if t < 16:
        s[t] *= s[t + 16]
    cuda.syncthreads()
    if t < 8:
        s[t] *= s[t + 8]
    cuda.syncthreads()
    if t < 4:
        s[t] *= s[t + 4]
    cuda.syncthreads()
    if t < 2:
        s[t] *= s[t + 2]
    cuda.syncthreads()
    if t < 1:
        s[t] *= s[t + 1]
    cuda.syncthreads()
    if t == 0:
        y[row] = s[0]


@cuda.jit
def running_sums(x, y):
    """running sums of each block, in two arrays that change places"""
    a = cuda.shared.array(SIZE, float32)
    b = cuda.shared.array(SIZE, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    a[t] = x[i]
    cuda.syncthreads()
    d = 1
    while d < cuda.blockDim.x:
        b[t] = a[t] + a[t - d] if t >= d else a[t]
        cuda.syncthreads()
        a[t] = b[t]
        cuda.syncthreads()
        d *= 2
    y[i] = a[t]
