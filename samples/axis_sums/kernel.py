import math

from numba import cuda, float32

TPB = 8


@cuda.jit
def axis_sum(out, a, size):
    """The sum of each row, which one block holds."""
    cache = cuda.shared.array(TPB, float32)
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    local_i = cuda.threadIdx.x
    batch = cuda.blockIdx.y
    if i < size:
        cache[local_i] = a[batch, i]
    else:
        cache[local_i] = 0
    cuda.syncthreads()
    for k in range(3):
        p = 2**k
        if local_i % (p * 2) == 0:
            cache[local_i] += cache[local_i + p]
        cuda.syncthreads()
    if local_i == 0:
        out[batch, 0] = cache[0]


@cuda.jit
def guarded_sum(out, a, size):
    """The sum of each block's part; no thread looks beyond the end."""
    cache = cuda.shared.array(TPB, float32)
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    local_i = cuda.threadIdx.x
    if i < size:
        cache[local_i] = a[i]
    else:
        cache[local_i] = 0
    cuda.syncthreads()
    for k in range(3):
        p = 2**k
        if local_i % (p * 2) == 0 and i + p < size:
            cache[local_i] = cache[local_i] + cache[local_i + p]
        cuda.syncthreads()
    if local_i == 0:
        out[cuda.blockIdx.x] = cache[local_i]


@cuda.jit
def largest(out, a):
    """The largest element of each row."""
    cache = cuda.shared.array(TPB, float32)
    local_i = cuda.threadIdx.x
    cache[local_i] = a[cuda.blockIdx.x, local_i]
    cuda.syncthreads()
    for k in range(int(math.log2(TPB))):
        if local_i % 2 ** (k + 1) == 0:
            cache[local_i] = max(cache[local_i], cache[local_i + 2**k])
        cuda.syncthreads()
    if local_i == 0:
        out[cuda.blockIdx.x] = cache[0]
