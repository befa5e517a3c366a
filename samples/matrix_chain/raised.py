"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Dynamic programming over intervals: the cheapest way to multiply a chain of matrices.
"""

import jax
import jax.numpy as jnp


@jax.jit
def matrix_chain(sizes, cost):
    """cost[i, j] is the least number of multiplications for the matrices i to j.

    for length = 2 ... sizes.shape[0] - 1:
        cost[i, i + length - 1] = min(1e+30, min_(0 <= k < sizes.shape[0] - 2 where k >= i and k < i
            + length - 1)(c))
            for 0 <= i < sizes.shape[0] - 2, where i < sizes.shape[0] - length
    """
    n = sizes.shape[0]
    if n < 2:
        return cost
    i = jnp.arange(n - 2)
    k = jnp.arange(n - 2)
    sizes_wide = jnp.pad(sizes, (0, n))

    def step(length, cost):
        difference = i + length - 1
        c = (
            cost[: n - 2, : n - 2]
            + jax.lax.dynamic_slice(
                jnp.pad(cost, ((0, n), (0, 2 * n))), (1, length - 1), (n - 2, n - 2)
            ).T
            + sizes[:-2, None]
            * sizes[1:-1]
            * jax.lax.dynamic_slice(sizes_wide, (length,), (n - 2,))[:, None]
        )  # kernel.py:15
        best = jnp.minimum(
            1e30,
            jnp.min(
                jnp.where(
                    ~jnp.tri(n - 2, k=-1, dtype=bool) & (k < difference[:, None]),
                    c,
                    jnp.inf,
                ),
                axis=1,
                initial=jnp.inf,
            ),
        )  # kernel.py:14
        return cost.at[jnp.where(i < n - length, i, cost.shape[0]), difference].set(
            best, mode="drop"
        )  # kernel.py:18

    return jax.lax.fori_loop(2, n, step, cost)  # kernel.py:10
