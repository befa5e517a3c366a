"""The general matrix product by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("M", "N", "K"))
def sgemm(M, N, K, alpha, A, B, beta, C):
    return alpha * (A.reshape(M, K) @ B.reshape(K, N)).ravel() + beta * C


def large(rng):
    given = {"A": rng.random(300_000, "f"), "B": rng.random(420_000, "f"), "C": rng.random(350_000, "f")}
    return {"sgemm": given | {"M": 500, "N": 700, "K": 600, "alpha": 1.5, "beta": 0.5}}
