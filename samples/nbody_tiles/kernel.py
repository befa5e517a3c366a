from numba import cuda, float32

TILE = 4


@cuda.jit
def nbody_tiles(position, mass, force, n):
    """the bodies pass through shared memory, a tile at a time"""
    near = cuda.shared.array(TILE, float32)
    heavy = cuda.shared.array(TILE, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + t
    own = position[i] if i < n else 0.0
    total = 0.0
    for tile in range((n + TILE - 1) // TILE):
        j = tile * TILE + t
        if j < n:
            near[t] = position[j]
            heavy[t] = mass[j]
        cuda.syncthreads()
        for k in range(TILE):
            if tile * TILE + k < n:
                d = near[k] - own
                total += heavy[k] * d / (d * d + 1.0)
        cuda.syncthreads()
    if i < n:
        force[i] = total
