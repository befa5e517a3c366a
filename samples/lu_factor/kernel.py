def lu_factor(a):
    """LU factorisation in place without pivoting: L below the unit diagonal, U on and above it."""
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
