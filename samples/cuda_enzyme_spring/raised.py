"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax


@partial(jax.jit, static_argnames="n")
def relax(x, stiffness, moved, dt, n):
    """moves each inner node towards its neighbours, the stiffer the spring the faster

    moved[i] = x[i] + dt * pull / (1.0 + pull * pull)  for 1 <= i < n - 1
    """
    if n < 1:
        return moved
    x_here = x[1 : n - 1]
    product = stiffness[: n - 1] * (x[1:n] - x[: n - 1])
    pull = product[1:] - product[:-1]  # kernel.cu:10
    return moved.at[1 : n - 1].set(
        x_here + dt * pull / (1.0 + pull * pull)
    )  # kernel.cu:11


@partial(jax.jit, static_argnames="n")
def relax_vjp(x, stiffness, moved, dt, n, moved_bar):
    """Gradients with respect to x and stiffness, given the cotangent of moved."""
    dt = jax.lax.stop_gradient(dt)

    def primal(x, stiffness):
        return relax(x, stiffness, moved, dt, n)

    _, pull = jax.vjp(primal, x, stiffness)
    return pull(moved_bar)


@partial(jax.jit, static_argnames="n")
def relax_jvp(x, stiffness, moved, dt, n, x_dot):
    """Values and tangents of moved along tangents of x."""
    stiffness = jax.lax.stop_gradient(stiffness)
    dt = jax.lax.stop_gradient(dt)

    def primal(x):
        return relax(x, stiffness, moved, dt, n)

    return jax.jvp(primal, (x,), (x_dot,))
