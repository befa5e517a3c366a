"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


def from_diagonals(a, cols, slope=1):
    """Cell (i, j) of the result is a[slope * i + j, i], for 0 <= j < cols."""
    rows = a.shape[1]
    flat = jnp.pad(a.T.ravel(), (0, slope * rows))
    return flat.reshape(rows, slope * rows + cols)[:, :cols]


def rounds_at_once(many):
    """How many rounds of a loop to unroll: a launch of a GPU costs more than a round, a CPU's cache prefers one."""
    return 1 if jax.default_backend() == "cpu" else many


@partial(jax.jit, static_argnames=("n", "m"))
def lcs_table(a, b, len, n, m):
    """Longest common subsequence: the table of lengths of the prefixes.

    for diagonal = 0 ... m + n:
        len_out[i, diagonal] = (len.before2[i - 1] + 1 if a[i - 1] == b[diagonal - i - 1] else
            max(len.before[i - 1], len.before[i])) if diagonal - i >= 0 and diagonal - i < m + 1 and
            not (i == 0 or diagonal - i == 0) else 0
        len.before[i] = (len.before2[i - 1] + 1 if a[i - 1] == b[diagonal - i - 1] else
            max(len.before[i - 1], len.before[i])) if diagonal - i >= 0 and diagonal - i < m + 1 and
            not (i == 0 or diagonal - i == 0) else 0
            for 0 <= i < n + 1
        len.before2[i] = len.before.1[i]  for 0 <= i < n + 1
    len.diagonals[diagonal, i] = len_out[i, diagonal]  for 0 <= diagonal < m + n + 1, 0 <= i < n + 1
    len[i, j] = len.diagonals[i + j, i]  for 0 <= i < n + 1, 0 <= j < m + 1
    """
    before = jnp.zeros(n + 1, jnp.int32)  # kernel.cu:3
    before2 = jnp.zeros(n + 1, jnp.int32)  # kernel.cu:3
    i = jnp.arange(n + 1)
    b_back = jnp.pad(b[::-1], (m + n, n + 1))

    def step(state, diagonal):
        before, before2 = state
        len_new = jnp.where(
            (diagonal - i >= 0)
            & (diagonal - i < m + 1)
            & ~((i == 0) | (diagonal - i == 0)),
            jnp.where(
                jnp.pad(a, (1, n))[: n + 1]
                == jax.lax.dynamic_slice(
                    b_back, (b.shape[0] + m + n - diagonal,), (n + 1,)
                ),
                jnp.pad(before2, (1, 0))[:-1] + 1,
                jnp.maximum(jnp.pad(before, (1, 0))[:-1], before),
            ),
            0,
        )
        before_2 = len_new  # kernel.cu:10
        before2_2 = before  # kernel.cu:10
        return (before_2, before2_2), len_new

    _, len_out = jax.lax.scan(
        step, (before, before2), jnp.arange(m + n + 1), unroll=rounds_at_once(8)
    )  # kernel.cu:3
    diagonals = len_out
    len2 = from_diagonals(diagonals, m + 1)  # kernel.cu:10
    return len.at[: (n + 1) * (m + 1)].set(len2.ravel())
