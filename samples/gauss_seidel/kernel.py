"""Sweeps that use what they have just computed: in place along a rod, over a plate, and with a dense matrix."""


def rod(u, f, sweeps):
    for s in range(sweeps):
        for i in range(1, u.shape[0] - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] + f[i])


def plate(u, f, sweeps):
    rows, cols = u.shape
    for s in range(sweeps):
        for i in range(1, rows - 1):
            for j in range(1, cols - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + f[i, j])


def dense(A, b, x, sweeps):
    n = A.shape[0]
    for s in range(sweeps):
        for i in range(n):
            rest = b[i]
            for j in range(n):
                if j != i:
                    rest -= A[i, j] * x[j]
            x[i] = rest / A[i, i]
