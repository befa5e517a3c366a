from numba import cuda


@cuda.jit
def gemm(alpha, A, B, beta, C):
    """C <- alpha A B + beta C, one thread an element of C."""
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    M, N = C.shape
    K = A.shape[1]
    if row < M and col < N:
        acc = 0.0
        for k in range(K):
            acc += A[row, k] * B[k, col]
        C[row, col] = alpha * acc + beta * C[row, col]
