from numba import cuda, float32

TILE = 4


@cuda.jit
def tiled_matmul(a, b, c, m, n, p):
    """c = a b; the tiles of a block go through shared memory"""
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array((TILE, TILE), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    acc = 0.0
    for t in range((n + TILE - 1) // TILE):
        left[ty, tx] = a[row, t * TILE + tx] if row < m and t * TILE + tx < n else 0.0
        right[ty, tx] = b[t * TILE + ty, col] if col < p and t * TILE + ty < n else 0.0
        cuda.syncthreads()
        for k in range(TILE):
            acc += left[ty, k] * right[k, tx]
        cuda.syncthreads()
    if row < m and col < p:
        c[row, col] = acc
