"""Two chained products by hand."""

import jax


@jax.jit
def gemm_chain(alpha, beta, A, B, C, tmp, D):
    tmp = alpha * (A.T @ B)
    return tmp, tmp @ C + beta * D


def large(rng):
    A, B, C, tmp, D = rng.random((5, 300, 300), "f")
    return {"gemm_chain": {"alpha": 0.5, "beta": 1.2, "A": A, "B": B, "C": C, "tmp": tmp, "D": D}}
