from numba import cuda


@cuda.jit
def periodic_advection(c, c_new, courant, n):
    """Lax-Wendroff step for the advection equation on a ring of n cells."""
    i = cuda.grid(1)
    if i >= n:
        return
    left = c[(i - 1 + n) % n]
    right = c[(i + 1) % n]
    mid = c[i]
    # second-order accurate in time and space
    c_new[i] = mid - 0.5 * courant * (right - left) + 0.5 * courant * courant * (right - 2.0 * mid + left)
