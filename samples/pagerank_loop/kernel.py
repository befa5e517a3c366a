"""PageRank by power iteration on a matrix in CSR form, until the change is small."""

import numpy as np
from numba import cuda


@cuda.jit
def spread(row_start, column, weight, rank, damping, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0.0
        for k in range(row_start[i], row_start[i + 1]):
            total += weight[k] * rank[column[k]]
        out[i] = (1.0 - damping) / out.size + damping * total


def pagerank(row_start, column, weight, rank0, damping, tolerance, max_iter):
    n = rank0.size
    threads = 256
    blocks = (n + threads - 1) // threads
    rank = cuda.to_device(rank0)
    new = cuda.device_array_like(rank)
    for it in range(max_iter):
        spread[blocks, threads](row_start, column, weight, rank, damping, new)
        change = np.abs(new.copy_to_host() - rank.copy_to_host()).sum()
        rank, new = new, rank
        if change < tolerance:
            break
    return rank.copy_to_host()
