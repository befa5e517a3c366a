"""A sparse product added to a vector by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="rows")
def csr_spmv(rows, ptr, col, val, x, y, alpha, beta):
    row = jnp.repeat(jnp.arange(rows), jnp.diff(ptr[: rows + 1]), total_repeat_length=col.size)
    total = jax.ops.segment_sum(val * x[col], row, rows, indices_are_sorted=True)
    return y.at[:rows].set(alpha * total + beta * y[:rows])


def large(rng):
    import numpy as np

    n = 20_000
    ptr = np.concatenate(([0], np.cumsum(rng.integers(0, 30, n)))).astype("int32")
    entries = {"col": rng.integers(0, n, ptr[-1]).astype("int32"), "val": rng.random(ptr[-1])}
    x, y = rng.random((2, n))
    return {"csr_spmv": entries | {"rows": n, "ptr": ptr, "x": x, "y": y, "alpha": 1.5, "beta": 0.25}}
