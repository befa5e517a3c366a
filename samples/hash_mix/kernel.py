from numba import cuda


@cuda.jit
def hash_mix(keys, buckets, n_buckets):
    """Bucket of each key: a small integer hash, kept inside 31 bits."""
    i = cuda.grid(1)
    if i < keys.size:
        h = keys[i]
        h = (h ^ (h >> 4)) * 73
        h = (h + (h << 3)) & 0xFFFF
        buckets[i] = h % n_buckets
