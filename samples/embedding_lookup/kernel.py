from numba import cuda


@cuda.jit
def embedding_lookup(table, ids, out, scale):
    """out[b, :] = scale * table[ids[b], :]"""
    b, d = cuda.grid(2)
    if b < ids.shape[0] and d < table.shape[1]:
        out[b, d] = scale * table[ids[b], d]
