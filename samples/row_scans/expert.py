"""Running maxima and offsets within ragged rows by hand."""

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def drawdown(starts, price, peak, fall, worst):
    n, m = worst.size, price.size
    rows = jnp.repeat(jnp.arange(n), jnp.diff(starts), total_repeat_length=m)

    def later(a, b):
        return a[0] | b[0], jnp.where(b[0], b[1], jnp.maximum(a[1], b[1]))

    first = jnp.zeros(m, bool).at[starts[:-1]].set(True, mode="drop")
    _, top = jax.lax.associative_scan(later, (first, jnp.maximum(price, 0)))
    deepest = jax.ops.segment_min(price - top, rows, n, indices_are_sorted=True)
    return top, price - top, jnp.minimum(deepest, 0)


@jax.jit
def offsets(starts, size, first):
    n, m = starts.size - 1, size.size
    rows = jnp.repeat(jnp.arange(n), jnp.diff(starts), total_repeat_length=m)
    before = jnp.cumsum(size) - size
    return before - before[starts[rows]]


def large(rng):
    n, m = 20_000, 400_000
    starts = np.concatenate(([0], np.sort(rng.integers(0, m, n - 1)), [m])).astype("int32")
    series = {
        "price": rng.random(m, "f"),
        "peak": rng.random(m, "f"),
        "fall": rng.random(m, "f"),
        "worst": rng.random(n, "f"),
    }
    items = {"size": rng.integers(0, 9, m).astype("int32"), "first": rng.integers(0, 9, m).astype("int32")}
    return {"drawdown": {"starts": starts} | series, "offsets": {"starts": starts} | items}
