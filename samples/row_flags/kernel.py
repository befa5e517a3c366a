from numba import cuda


@cuda.jit
def row_flags(a, limit, count, any_neg, all_small):
    """For each row: how many entries exceed the limit, is one negative, are all small."""
    i = cuda.grid(1)
    if i < a.shape[0]:
        n = 0
        neg = False
        small = True
        for j in range(a.shape[1]):
            if a[i, j] > limit:
                n += 1
            if a[i, j] < 0.0:
                neg = True
            small = small and a[i, j] < 2.0 * limit
        count[i] = n
        any_neg[i] = neg
        all_small[i] = small
