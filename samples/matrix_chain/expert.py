"""The cheapest way to multiply a chain of matrices by hand.

Intervals are kept by their length, once under their left and once (upside down) under their right end: the two parts
of all intervals of one length, for all cuts, are then two slices.
"""

import jax
import jax.numpy as jnp


@jax.jit
def matrix_chain(sizes, cost):
    n = sizes.size - 1
    i, j = jnp.indices((n, n), sparse=True)
    s = jnp.pad(sizes, (0, 2 * n))
    cut = s[1 + i + j]  # for the cut after matrix i of an interval that starts at j
    left = jnp.full((n, n), jnp.inf, cost.dtype).at[0].set(jnp.diagonal(cost))
    right = jnp.full((2 * n, 2 * n), jnp.inf, cost.dtype).at[n - 1, :n].set(jnp.diagonal(cost))

    @jax.checkpoint
    def step(d, state):
        left, right = state
        rest = jax.lax.dynamic_slice(right, (n - d, d), (n, n))
        ends = sizes[:n] * jax.lax.dynamic_slice(s, (d + 1,), (n,))
        whole = jnp.isfinite(left) & jnp.isfinite(rest)
        terms = jnp.where(whole, left + rest + jnp.where(whole, cut, 0) * jnp.where(whole, ends, 0), 1e30)
        best = jnp.where(i[:, 0] < n - d, terms.min(axis=0), jnp.inf)
        return left.at[d].set(best), jax.lax.dynamic_update_slice(right, best[None], (n - 1 - d, d))

    left, _ = jax.lax.fori_loop(1, n, step, (left, right))
    return jnp.where(j > i, left[j - i, i], cost)


def large(rng):
    import numpy as np

    n = 100
    return {"matrix_chain": {"sizes": 1 + rng.random(n + 1, "f"), "cost": np.zeros((n, n), "f")}}
