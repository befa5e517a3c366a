"""Whether a key is among others, and the search that ends at the first one."""

from numba import cuda


@cuda.jit
def first_match(keys, wanted, hit):
    i = cuda.grid(1)
    if i < wanted.size:
        hit[i] = 0
        for j in range(keys.size):
            if keys[j] == wanted[i]:
                hit[i] = 1
                return
