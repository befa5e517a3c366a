"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


def rounds_at_once(many):
    """How many rounds of a loop to unroll: a launch of a GPU costs more than a round, a CPU's cache prefers one."""
    return 1 if jax.default_backend() == "cpu" else many


@jax.jit
def exposure(rate, dose):
    """Dose over one second in steps of a tenth: eleven steps, since ten tenths are less than one in double precision.

    dose[i] = sum_(0 <= round < 11) rate[i] * exp(-(round * 0.1))  for 0 <= i < dose.shape[0]
    """
    round = jnp.arange(11)
    return (
        rate[: dose.shape[0]] * jnp.sum(jnp.exp(-(round.astype(float) * 0.1)))
    ).astype(dose.dtype)  # kernel.py:16


@jax.jit
def cooled(x, y):
    """Steps that shrink as the temperature falls; the temperature is tested last.

    v = x[i]  for 0 <= i < y.shape[0]
    heat = 4.0
    for round = 0 ... 12:
        v, heat = v - 0.1 * heat * sin(v), heat * 0.7
    y[i] = v  for 0 <= i < y.shape[0]
    """
    dtype = jnp.result_type(x, 1.0)

    def step(_, state):
        v, heat = state
        v_2 = v - 0.1 * heat * jnp.sin(v)  # kernel.py:27
        return v_2, heat * 0.7

    v, _ = jax.lax.fori_loop(
        0, 13, step, (x[: y.shape[0]].astype(dtype), 4.0), unroll=rounds_at_once(32)
    )  # kernel.py:26
    return v.astype(y.dtype)  # kernel.py:31
