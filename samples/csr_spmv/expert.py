"""A sparse matrix in compressed rows times a vector, by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def csr_spmv(indptr, indices, data, x, y):
    k = jnp.arange(indices.size)
    row = jnp.searchsorted(indptr, k, side="right") - 1
    return jax.ops.segment_sum(data * x[indices], row, y.size, indices_are_sorted=True)


def large(rng):
    import numpy as np

    n = 20_000
    indptr = np.concatenate(([0], np.cumsum(rng.integers(0, 30, n)))).astype("int32")
    count = indptr[-1]
    entries = {"indices": rng.integers(0, n, count).astype("int32"), "data": rng.random(count, "f")}
    return {"csr_spmv": entries | {"indptr": indptr, "x": rng.random(n, "f"), "y": rng.random(n, "f")}}
