"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Sweeps that use what they have just computed: in place along a rod, over a plate, and with a dense matrix.
"""

from functools import partial

import jax
import jax.numpy as jnp


def by_diagonals(a, count, slope=1):
    """Row w < count holds a[i, w - slope * i] for each i, zero where there is none."""
    rows = a.shape[0]
    more = max(count + slope - a.shape[1], 0)
    wide = jnp.pad(a, ((0, 0), (0, more)))
    return wide.ravel()[: rows * count].reshape(rows, count).T


def from_diagonals(a, cols, slope=1):
    """Cell (i, j) of the result is a[slope * i + j, i], for 0 <= j < cols."""
    rows = a.shape[1]
    flat = jnp.pad(a.T.ravel(), (0, slope * rows))
    return flat.reshape(rows, slope * rows + cols)[:, :cols]


def rounds_at_once(many):
    """How many rounds of a loop to unroll: a launch of a GPU costs more than a round, a CPU's cache prefers one."""
    return 1 if jax.default_backend() == "cpu" else many


def checkpointed_loop(start, stop, step, state, unroll=1):
    """``fori_loop`` whose rounds the gradient runs again; in segments of sqrt(n) rounds, where all states are many."""
    step = jax.checkpoint(step, prevent_cse=False)
    rounds = max(stop - start, 0)
    few = 2**22 if jax.default_backend() == "cpu" else 2**28
    if rounds * sum(map(jnp.size, jax.tree.leaves(state))) <= few:
        return jax.lax.fori_loop(start, stop, step, state, unroll=unroll)
    size = max(int(rounds**0.5), 1)

    def segment(k, state):
        first = start + k * size
        return jax.lax.fori_loop(
            0, size, lambda r, s: step(first + r, s), state, unroll=unroll
        )

    segment = jax.checkpoint(segment, prevent_cse=False)
    state = jax.lax.fori_loop(0, rounds // size, segment, state)
    rest = start + rounds // size * size
    return jax.lax.fori_loop(rest, stop, step, state, unroll=unroll)


@partial(jax.jit, static_argnames="sweeps")
def rod(u, f, sweeps):
    """for s = 0 ... sweeps - 1:
        u_before = u[0]
        for i = 1 ... u.shape[0] - 1 - 1:
            u_out[i] = u_before = 0.5 * (u_before + u[i + 1] + f[i])
        u[i] = u_out[i]  for 1 <= i < u.shape[0] - 1

    the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    n = u.shape[0]
    if n < 3:
        return u

    def step(_, u):
        def step_2(u_before, inputs):
            u_after, f_i = inputs
            u_new = 0.5 * (u_before + u_after + f_i)
            return jnp.asarray(u_new, u.dtype), u_new

        _, u_out = jax.lax.scan(
            step_2, u[0], (u[2:], f[1 : n - 1]), unroll=rounds_at_once(32)
        )  # kernel.py:6
        return u.at[1:-1].set(u_out)  # kernel.py:7

    return checkpointed_loop(0, sweeps, step, u)  # kernel.py:5


@partial(jax.jit, static_argnames="sweeps")
def plate(u, f, sweeps):
    """for s = 0 ... sweeps - 1:
        cost.table[i, j] = u[i + 1, j]  for 0 <= i < rows - 1, 0 <= j < cols - 1
        cost.table2[i, j] = u[i, j + 1]  for 0 <= i < rows - 1, 0 <= j < cols - 1
        for diagonal = 0 ... rows + cols - 3 - 1:
            u_out[i, diagonal] = 0.25 * (u.before[i - 1] + cost.table[i, diagonal - i] + u.before[i]
                + cost.table2[i, diagonal - i] + f[i, diagonal - i]) if i >= 1 and diagonal - i >= 1
                and diagonal - i < cols - 1 else u[i, diagonal - i]
            u.before[i] = 0.25 * (u.before[i - 1] + cost.table[i, diagonal - i] + u.before[i] +
                cost.table2[i, diagonal - i] + f[i, diagonal - i]) if i >= 1 and diagonal - i >= 1
                and diagonal - i < cols - 1 else u[i, diagonal - i]
                for 0 <= i < rows - 1
        u.diagonals[diagonal, i] = u_out[i, diagonal]
            for 0 <= diagonal < rows + cols - 3, 0 <= i < rows - 1
        u[i, j] = u.diagonals[i + j, i]  for 0 <= i < rows - 1, 0 <= j < cols - 1

    the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    rows, cols = u.shape
    if rows == 0:
        return u
    i = jnp.arange(rows - 1)

    def step(_, u):
        table = u[1:, :-1]  # kernel.py:13
        table2 = u[:-1, 1:]  # kernel.py:13
        before = jnp.zeros(rows - 1, u.dtype)  # kernel.py:13

        def step_2(before, inputs):
            diagonal, cost_diagonal, cost_diagonal_2, f_diagonal, u_diagonal = inputs
            u_new = jnp.where(
                (i >= 1) & (diagonal - i >= 1) & (diagonal - i < cols - 1),
                0.25
                * (
                    jnp.pad(before, (1, 0))[:-1]
                    + cost_diagonal
                    + before
                    + cost_diagonal_2
                    + f_diagonal
                ),
                u_diagonal,
            )
            before_2 = u_new.astype(u.dtype)  # kernel.py:15
            return before_2, u_new

        _, u_out = jax.lax.scan(
            step_2,
            before,
            (
                jnp.arange(rows + cols - 3),
                by_diagonals(table, max(rows + cols - 3, 0)),
                by_diagonals(table2, max(rows + cols - 3, 0)),
                by_diagonals(f[: rows - 1, : cols - 1], max(rows + cols - 3, 0)),
                by_diagonals(u[: rows - 1, : cols - 1], max(rows + cols - 3, 0)),
            ),
            unroll=rounds_at_once(8),
        )  # kernel.py:13
        diagonals = u_out.astype(u.dtype)
        return u.at[:-1, :-1].set(
            from_diagonals(diagonals, max(cols - 1, 0))
        )  # kernel.py:15

    return checkpointed_loop(0, sweeps, step, u)  # kernel.py:12


@partial(jax.jit, static_argnames="sweeps")
def dense(A, b, x, sweeps):
    """for s = 0 ... sweeps - 1:
        for i = 0 ... n - 1:
            x[i] = (b[i] + sum_(j where j != i) -(A[i, j] * x[j])) / A[i, i]

    the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    if jnp.ndim(b) != 1:
        raise ValueError(
            "dense: b must have 1 axis (parts of it are written with a colon)"
        )
    n = A.shape[0]
    if n == 0:
        return x
    j = jnp.arange(n)

    def step(_, x):
        def step_2(x, inputs):
            i, rest, A_i, A_ii = inputs
            mask = ~(j == i)
            rest_2 = rest + jnp.sum(
                jnp.where(mask, -(A_i * jnp.where(mask, x[:n], 0)), 0)
            )  # kernel.py:23
            x = x.at[i].set(rest_2 / A_ii)  # kernel.py:26
            return x, None

        x, _ = jax.lax.scan(
            step_2, x, (jnp.arange(n), b[:n], A[:, :n], jnp.diagonal(A))
        )  # kernel.py:21
        return x

    return checkpointed_loop(0, sweeps, step, x)  # kernel.py:20
