"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file."""

import jax
import jax.numpy as jnp


@jax.jit
def repeated_knots(y, xq, xs, ys):
    """Piecewise linear interpolation through points two of which share a place: a jump.

    y[i] = (1.0 - t) * ys[k] + t * ys[k + 1] if h > 0.0 else ys[k]  for 0 <= i < xq.shape[0]
    """
    j = jnp.arange(xs.shape[0] - 1)
    k = jnp.max(
        jnp.where(xs[:-1] <= xq[:, None], j, 0), axis=1, initial=0
    )  # kernel.py:13
    xs_at = xs[k]
    h = xs[k + 1] - xs_at  # kernel.py:16
    above = h > 0.0
    safe_h = jnp.where(above, h, 1)
    t = (xq - xs_at) / safe_h  # kernel.py:18
    some_ys = jnp.resize(ys, max(ys.shape[0], 1))
    ys_at = some_ys.at[k].get(mode="clip")
    return y.at[: xq.shape[0]].set(
        jnp.where(
            above, (1.0 - t) * ys_at + t * some_ys.at[k + 1].get(mode="clip"), ys_at
        )
    )  # kernel.py:21
