"""What the threads of a block answer together, and rounds whose distances are listed."""

from numba import cuda, float32


@cuda.jit
def hot_cells(heat, counts, limit, n):
    i = cuda.grid(1)
    c = cuda.syncthreads_count(i < n and heat[i] > limit)
    if cuda.threadIdx.x == 0:
        counts[cuda.blockIdx.x] = c


@cuda.jit
def settled(change, done, n):
    i = cuda.grid(1)
    calm = cuda.syncthreads_and(i >= n or abs(change[i]) < 0.25)
    if cuda.threadIdx.x == 0 and calm:
        done[cuda.blockIdx.x] = 1


@cuda.jit
def loudest(signal, peaks):
    level = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    level[t] = abs(signal[cuda.grid(1)])
    cuda.syncthreads()
    for d in (32, 16, 8, 4, 2, 1):
        if t < d:
            level[t] = max(level[t], level[t + d])
        cuda.syncthreads()
    if t == 0:
        peaks[cuda.blockIdx.x] = level[0]


@cuda.jit(device=True)
def over_lanes(v):
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, d)
    return v


@cuda.jit
def total_charge(q, total, n):
    part = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s = over_lanes(q[i] if i < n else float32(0.0))
    if t % 32 == 0:
        part[t // 32] = s
    cuda.syncthreads()
    s = part[t % 32] if t < cuda.blockDim.x // 32 else float32(0.0)
    if t // 32 == 0:
        s = over_lanes(s)
    if t == 0:
        cuda.atomic.add(total, 0, s)
