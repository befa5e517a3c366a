"""Batched tridiagonal solves by hand: two scans, all systems at once."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "systems"))
def thomas(lower, diag, upper, rhs, c, d, x, n, systems):
    """The coefficients of the forward sweep, and the solutions, flat."""
    size = n * systems
    lower, diag, upper, rhs = (v[:size].reshape(n, systems) for v in (lower, diag, upper, rhs))

    def forward(state, inputs):
        c_above, d_above = state
        low, mid, up, right = inputs
        pivot = mid - low * c_above
        new = up / pivot, (right - low * d_above) / pivot
        return new, new

    first = upper[0] / diag[0], rhs[0] / diag[0]
    _, (cs, ds) = jax.lax.scan(forward, first, (lower[1:], diag[1:], upper[1:], rhs[1:]))
    cs, ds = jnp.concatenate((first[0][None], cs)), jnp.concatenate((first[1][None], ds))

    def backward(below, inputs):
        here = inputs[1] - inputs[0] * below
        return here, here

    _, xs = jax.lax.scan(backward, ds[-1], (cs[:-1], ds[:-1]), reverse=True)
    xs = jnp.concatenate((xs, ds[-1:]))
    return tuple(old.at[:size].set(new.ravel()) for old, new in ((c, cs), (d, ds), (x, xs)))
