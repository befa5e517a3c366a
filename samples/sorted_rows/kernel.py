from numba import cuda


@cuda.jit
def sorted_rows(order, table, weight, out, total):
    """Rows go to their places, and each place's total is scaled; every place is given once."""
    i, j = cuda.grid(2)
    if i < order.shape[0] and j < table.shape[1]:
        out[order[i], j] = weight[i] * table[i, j]
        if j == 0:
            total[order[i]] = 0.5 * total[order[i]] + weight[i]
