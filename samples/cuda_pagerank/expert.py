"""One step of PageRank by hand."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Edge(NamedTuple):
    source: jax.Array
    weight: jax.Array


@partial(jax.jit, static_argnames="n")
def pagerank(entry, edge, rank, degree, next, n, damping):
    share = rank / degree
    end = jnp.repeat(jnp.arange(n), jnp.diff(entry[: n + 1]), total_repeat_length=edge.weight.size)
    total = jax.ops.segment_sum(share[edge.source] * edge.weight, end, n, indices_are_sorted=True)
    return next.at[:n].set((1.0 - damping) / n + damping * total)


def large(rng):
    import numpy as np

    n = 20_000
    entry = np.concatenate(([0], np.cumsum(rng.integers(0, 30, n)))).astype("int32")
    edge = Edge(rng.integers(0, n, entry[-1]).astype("int32"), rng.random(entry[-1], "f"))
    rank, new = rng.random((2, n), "f")
    degree = rng.integers(1, 30, n).astype("int32")
    return {
        "pagerank": {"entry": entry, "edge": edge, "rank": rank, "degree": degree, "next": new}
        | {"n": n, "damping": 0.85}
    }
