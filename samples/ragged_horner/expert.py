"""A polynomial of its own degree for each point, by hand."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def ragged_horner(ptr, c, x, y):
    n, m = x.size, c.size
    rows = jnp.repeat(jnp.arange(n), jnp.diff(ptr), total_repeat_length=m)
    power = ptr[rows + 1] - 1 - jnp.arange(m)
    return jax.ops.segment_sum(c * x[rows] ** power, rows, n, indices_are_sorted=True)


def large(rng):
    n, m = 20_000, 200_000
    ptr = np.concatenate(([0], np.cumsum(np.bincount(rng.integers(0, n, m), minlength=n)))).astype("int32")
    return {
        "ragged_horner": {"ptr": ptr, "c": rng.random(m, "f"), "x": rng.random(n, "f") - 0.5, "y": rng.random(n, "f")}
    }
