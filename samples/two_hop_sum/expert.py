"""A sparse product applied twice, by hand."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def two_hop_sum(ptr, nbr, w, x, y):
    rows = jnp.repeat(jnp.arange(y.size), jnp.diff(ptr), total_repeat_length=nbr.size)

    def product(v):
        return jax.ops.segment_sum(w * v[nbr], rows, y.size, indices_are_sorted=True)

    return product(product(x))


def large(rng):
    n, m = 20_000, 400_000
    ptr = np.concatenate(([0], np.sort(rng.integers(0, m, n - 1)), [m])).astype("int32")
    given = {"nbr": rng.integers(0, n, m).astype("int32"), "w": rng.random(m, "f")}
    return {"two_hop_sum": {"ptr": ptr, "x": rng.random(n, "f"), "y": rng.random(n, "f")} | given}
