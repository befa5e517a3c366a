"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="n")
def sorted_quads(x, n):
    """Four neighbours in order, by a bitonic network in registers.

    x[4 * i] = min(v_0, v_1)  for 0 <= i < n
    x[4 * i + 1] = max(v_0, v_1)  for 0 <= i < n
    x[4 * i + 2] = min(max(min(x.0[4 * i], x.0[4 * i + 1]), max(x.0[4 * i + 2], x.0[4 * i + 3])),
        max(max(x.0[4 * i], x.0[4 * i + 1]), min(x.0[4 * i + 2], x.0[4 * i + 3])))
        for 0 <= i < n
    x[4 * i + 3] = max(max(min(x.0[4 * i], x.0[4 * i + 1]), max(x.0[4 * i + 2], x.0[4 * i + 3])),
        max(max(x.0[4 * i], x.0[4 * i + 1]), min(x.0[4 * i + 2], x.0[4 * i + 3])))
        for 0 <= i < n
    """
    v_0 = x[: 4 * n : 4]  # kernel.cu:6
    v_1 = x[1 : 4 * n + 1 : 4]
    t = jnp.minimum(v_0, v_1)  # kernel.cu:13
    v_2 = x[2 : 4 * n + 2 : 4]  # kernel.cu:6
    v_3 = x[3 : 4 * n + 3 : 4]
    v_0_2 = jnp.maximum(v_2, v_3)  # kernel.cu:13
    v_0_3 = jnp.minimum(t, v_0_2)
    t_2 = jnp.maximum(v_0, v_1)
    v_1_2 = jnp.minimum(v_2, v_3)
    v_1_3 = jnp.minimum(t_2, v_1_2)
    t_3 = jnp.maximum(t, v_0_2)
    v_2_2 = jnp.maximum(t_2, v_1_2)
    return x.at[: 4 * n].set(
        jnp.stack(
            (
                jnp.minimum(v_0_3, v_1_3),
                jnp.maximum(v_0_3, v_1_3),
                jnp.minimum(t_3, v_2_2),
                jnp.maximum(t_3, v_2_2),
            ),
            axis=1,
        ).ravel()
    )  # kernel.cu:16
