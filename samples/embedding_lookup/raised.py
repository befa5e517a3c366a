"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax


@jax.jit
def embedding_lookup(table, ids, out, scale):
    """out[b, :] = scale * table[ids[b], :]

    out[b, d] = scale * table[ids[b], d]  for 0 <= b < ids.shape[0], 0 <= d < table.shape[1]
    """
    return out.at[: ids.shape[0], : table.shape[1]].set(
        scale * table[ids]
    )  # kernel.py:9
