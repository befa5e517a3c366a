"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def spring_chain(x, rest, stiffness, energy, force, pinned, n):
    """Energy and force of each mass of a chain of springs; pinned masses feel none.

    energy[i] = (0.0 + 0.25 * stiffness * (abs(x[i] - x[i - 1]) - rest[i - 1])**2 if i > 0 else 0.0)
        + 0.25 * stiffness * (abs(x[i + 1] - x[i]) - rest[i])**2 if i < n - 1 else 0.0 + 0.25 *
        stiffness * (abs(x[i] - x[i - 1]) - rest[i - 1])**2 if i > 0 else 0.0
        for 0 <= i < n
    force[i] = 0.0 if pinned[i] != 0 else f  for 0 <= i < n
    """
    if n < 1:
        return energy, force
    stretch = jnp.abs(x[1:n] - x[: n - 1]) - rest[: n - 1]
    stretch_padded = jnp.pad(stretch, 1)
    stretch_left = stretch_padded[:-1]
    stretch_here = stretch_padded[1:]
    energy = energy.at[:n].set(
        0.0 + 0.25 * stiffness * stretch_left**2 + 0.25 * stiffness * stretch_here**2
    )  # kernel.py:19
    force = force.at[:n].set(
        jnp.where(
            pinned[:n] != 0,
            0.0,
            0.0 - stiffness * stretch_left + stiffness * stretch_here,
        )
    )  # kernel.py:20
    return energy, force


@partial(jax.jit, static_argnames="n")
def spring_chain_grad(x, rest, stiffness, energy, force, pinned, n, w):
    """Value and gradient of sum(energy) + 0.5 * dot(force, w) with respect to x and stiffness."""
    rest = jax.lax.stop_gradient(rest)

    def loss(x, stiffness):
        energy_new, force_new = spring_chain(
            x, rest, stiffness, energy, force, pinned, n
        )
        with jax.default_matmul_precision("float32"):  # no TF32, no bfloat16
            return jnp.sum(energy_new) + 0.5 * jnp.vdot(force_new, w)

    return jax.value_and_grad(loss, argnums=(0, 1))(x, stiffness)


@partial(jax.jit, static_argnames="n")
def spring_chain_vjp(
    x, rest, stiffness, energy, force, pinned, n, energy_bar, force_bar
):
    """Gradients with respect to x and stiffness, given the cotangents of energy and force."""
    rest = jax.lax.stop_gradient(rest)

    def primal(x, stiffness):
        return spring_chain(x, rest, stiffness, energy, force, pinned, n)

    _, pull = jax.vjp(primal, x, stiffness)
    return pull((energy_bar, force_bar))
