"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


def rounds_at_once(many):
    """How many rounds of a loop to unroll: a launch of a GPU costs more than a round, a CPU's cache prefers one."""
    return 1 if jax.default_backend() == "cpu" else many


@partial(jax.jit, static_argnames=("n", "systems"))
def thomas(lower, diag, upper, rhs, c, d, x, n, systems):
    """One tridiagonal system a thread, interleaved so that neighbouring threads touch neighbouring cells.

    c[0, s] = upper[0, s] / diag[0, s]  for 0 <= s < systems
    d[0, s] = rhs[0, s] / diag[0, s]  for 0 <= s < systems
    c_before, d_before = upper[0, s] / diag[0, s], rhs[0, s] / diag[0, s]  for 0 <= s < systems
    for i = 1 ... n - 1:
        all at once:
            c_out[s, i] = c_before = upper[i, s] / (diag[i, s] - lower[i, s] * c_before)
            d_out[s, i] = d_before = (rhs[i, s] - lower[i, s] * d_before) / (diag[i, s] -
                lower[i, s] * c_before)
    c[i, s] = c_out[s, i]  for 0 <= s < systems, 1 <= i < n
    d[i, s] = d_out[s, i]  for 0 <= s < systems, 1 <= i < n
    x[n - 1, s] = d[n - 1, s]  for 0 <= s < systems
    x_before = d[n - 1, s]  for 0 <= s < systems
    for i = 0 ... n - 1 - 1, from last to first:
        x_out[s, i] = x_before = d[i, s] - c[i, s] * x_before
    x[i, s] = x_out[s, i]  for 0 <= s < systems, 0 <= i < n - 1
    """
    upper2 = jnp.resize(upper, (max(1, n), systems))
    diag2 = jnp.resize(diag, (max(1, n), systems))
    c_first = upper2[0] / diag2[0]
    rhs2 = jnp.resize(rhs, (max(1, n), systems))
    d_first = rhs2[0] / diag2[0]
    lower2 = lower[: n * systems].reshape(n, systems)

    def step(state, inputs):
        c_before, d_before = state
        upper_i, diag_i, lower_i, rhs_i = inputs
        pivot = diag_i - lower_i * c_before  # kernel.cu:10
        c_new = upper_i / pivot
        d_new = (rhs_i - lower_i * d_before) / pivot
        return (c_new, d_new), (c_new, d_new)

    _, (c_out, d_out) = jax.lax.scan(
        jax.checkpoint(step, prevent_cse=False),
        (c_first, d_first),
        (upper2[1:n], diag2[1:n], lower2[1:], rhs2[1:n]),
        unroll=rounds_at_once(32),
    )  # kernel.cu:8
    c2 = jnp.concatenate((c_first[None], c_out))  # kernel.cu:11
    d2 = jnp.concatenate((d_first[None], d_out))  # kernel.cu:12

    def step(x_before, inputs):
        d_i, c_i = inputs
        x_new = d_i - c_i * x_before
        return x_new, x_new

    _, x_out = jax.lax.scan(
        step,
        d2[n - 1],
        (d2[: max(n - 1, 0)], c2[: max(n - 1, 0)]),
        reverse=True,
        unroll=rounds_at_once(32),
    )  # kernel.cu:15
    x2 = jnp.concatenate((x_out, d2[n - 1][None]))  # kernel.cu:15
    c = c.at[: max(1, n) * systems].set(c2.ravel()[: c.size])
    d = d.at[: max(1, n) * systems].set(d2.ravel()[: d.size])
    x = x.at[: n * systems].set(x2.ravel())
    return c, d, x
