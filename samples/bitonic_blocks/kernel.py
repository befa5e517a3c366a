from numba import cuda, float32

N = 8


@cuda.jit
def bitonic_blocks(a):
    """sorts each block of N by a bitonic network"""
    s = cuda.shared.array(N, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * N + t
    s[t] = a[i]
    cuda.syncthreads()
    k = 2
    while k <= N:
        j = k // 2
        while j > 0:
            p = t ^ j
            if p > t:
                if (s[t] > s[p]) == ((t & k) == 0):
                    low = s[p]
                    s[p] = s[t]
                    s[t] = low
            cuda.syncthreads()
            j //= 2
        k *= 2
    a[i] = s[t]
