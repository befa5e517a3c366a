"""A host function with a time loop: two device buffers that swap their roles after every launch."""

import time

from numba import cuda


@cuda.jit
def diffuse(u, v, n, c):
    i = cuda.grid(1)
    if 0 < i < n - 1:
        v[i] = u[i] + c * (u[i - 1] - 2.0 * u[i] + u[i + 1])


def heat(u0, steps, c):
    """Heat conduction in a rod with fixed ends."""
    n = u0.shape[0]
    threads = 128
    blocks = (n + threads - 1) // threads
    u = cuda.to_device(u0)
    v = cuda.to_device(u0)
    started = time.time()
    for _ in range(steps):
        diffuse[blocks, threads](u, v, n, c)
        u, v = v, u
    cuda.synchronize()
    print("took", time.time() - started)
    return u.copy_to_host()


def heat_in_place(u, v, steps, c):
    """The same in the caller's two arrays: which of them holds the last step depends on the number of steps."""
    n = len(u)
    for _ in range(steps):
        diffuse[-(-n // 64), 64](u, v, n, c)
        u, v = v, u
