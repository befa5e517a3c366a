"""Attention over the edges of a graph by hand."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def attention_edges(ptr, src, score, h, weight, out):
    n = out.size
    node = jnp.repeat(jnp.arange(n), jnp.diff(ptr), total_repeat_length=score.size)
    top = jax.ops.segment_max(jax.lax.stop_gradient(score), node, n, indices_are_sorted=True)
    e = jnp.exp(score - top[node])
    weight = e / jax.ops.segment_sum(e, node, n, indices_are_sorted=True)[node]
    return weight, jax.ops.segment_sum(weight * h[src], node, n, indices_are_sorted=True)


def large(rng):
    n, m = 20_000, 400_000
    ptr = np.concatenate(([0], np.sort(rng.integers(0, m, n - 1)), [m])).astype("int32")
    edges = {"src": rng.integers(0, n, m).astype("int32"), "score": rng.random(m, "f"), "weight": rng.random(m, "f")}
    return {"attention_edges": {"ptr": ptr, "h": rng.random(n, "f"), "out": rng.random(n, "f")} | edges}
