from numba import cuda, float32

TILE = 4


@cuda.jit
def tiled_transpose(a, out):
    """out = a transposed; one more column keeps the banks apart"""
    tile = cuda.shared.array((TILE, TILE + 1), float32)
    x = cuda.blockIdx.x * TILE + cuda.threadIdx.x
    y = cuda.blockIdx.y * TILE + cuda.threadIdx.y
    if x < a.shape[1] and y < a.shape[0]:
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = a[y, x]
    cuda.syncthreads()
    i = cuda.blockIdx.y * TILE + cuda.threadIdx.x
    j = cuda.blockIdx.x * TILE + cuda.threadIdx.y
    if i < a.shape[0] and j < a.shape[1]:
        out[j, i] = tile[cuda.threadIdx.x, cuda.threadIdx.y]
