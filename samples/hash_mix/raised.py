"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax


def widened(a):
    """Integers of 8 and 16 bits as ones that sums do not wrap; others as they are."""
    return a.astype(int) if a.dtype.kind in "iu" and a.dtype.itemsize < 4 else a


@jax.jit
def hash_mix(keys, buckets, n_buckets):
    """Bucket of each key: a small integer hash, kept inside 31 bits.

    buckets[i] = h % n_buckets  for 0 <= i < keys.shape[0]
    """
    keys = widened(keys)
    h = (keys ^ keys >> 4) * 73  # kernel.py:10
    h_2 = h + (h << 3) & 65535
    return buckets.at[: keys.shape[0]].set(
        (h_2 % n_buckets).astype(buckets.dtype)
    )  # kernel.py:12
