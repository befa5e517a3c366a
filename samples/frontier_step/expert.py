"""One step of a breadth-first search by hand."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def frontier_step(ptr, adj, active, reached, edges, level):
    live = jnp.repeat(active == level, jnp.diff(ptr), total_repeat_length=adj.size)
    to = jnp.where(live, adj, reached.size)
    return reached.at[to].set(level + 1, mode="drop"), edges.at[to].add(1, mode="drop")


def large(rng):
    n, m = 20_000, 400_000
    ptr = np.concatenate(([0], np.sort(rng.integers(0, m, n - 1)), [m])).astype("int32")
    nodes = {name: rng.integers(0, 4, n).astype("int32") for name in ("active", "reached", "edges")}
    return {"frontier_step": nodes | {"ptr": ptr, "adj": rng.integers(0, n, m).astype("int32"), "level": 2}}
