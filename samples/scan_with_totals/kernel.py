from numba import cuda, float32

B = 64


@cuda.jit
def scan_with_totals(x, out, totals):
    """running sums within each block (Hillis and Steele), and the block's total from its last thread"""
    s = cuda.shared.array(B, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.shape[0] else 0.0
    cuda.syncthreads()
    d = 1
    while d < B:
        v = float32(0)
        if t >= d:
            v = s[t - d]
        cuda.syncthreads()
        s[t] += v
        cuda.syncthreads()
        d <<= 1
    if i < x.shape[0]:
        out[i] = s[t]
    if t == B - 1:
        totals[cuda.blockIdx.x] = s[t]
