"""What nodes push along their edges, by hand."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def scatter_rows(start, target, flow, level, inflow):
    degree = jnp.diff(start)
    share = level / jnp.maximum(degree, 1)
    pushed = jnp.repeat(share, degree, total_repeat_length=flow.size) * jnp.maximum(flow, 0)
    return inflow.at[target].add(pushed)


def large(rng):
    n, m = 20_000, 400_000
    start = np.concatenate(([0], np.sort(rng.integers(0, m, n - 1)), [m])).astype("int32")
    given = {"target": rng.integers(0, n, m).astype("int32"), "flow": rng.random(m, "f") - 0.3}
    return {"scatter_rows": given | {"start": start, "level": rng.random(n, "f"), "inflow": rng.random(n, "f")}}
