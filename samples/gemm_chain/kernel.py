"""Two chained products, as a least-squares code spells them."""

from numba import njit


@njit
def gemm_chain(alpha, beta, A, B, C, tmp, D):
    # tmp <- alpha * A^T B
    for i in range(A.shape[1]):
        for j in range(B.shape[1]):
            tmp[i, j] = 0.0
            for k in range(A.shape[0]):
                tmp[i, j] += alpha * A[k, i] * B[k, j]
    # D <- tmp C + beta * D
    for i in range(D.shape[0]):
        for j in range(D.shape[1]):
            D[i, j] = beta * D[i, j]
            for k in range(C.shape[0]):
                D[i, j] += tmp[i, k] * C[k, j]
