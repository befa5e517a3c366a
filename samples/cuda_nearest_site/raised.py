"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "m"))
def nearest_site(p, site, which, distance, n, m):
    """The site that is nearest to each point, and its squared distance.

    which[i] = argmin_k(dx * dx + dy * dy)  for 0 <= i < n
    distance[i] = min_k(dx * dx + dy * dy)  for 0 <= i < n
    """
    dx = site[:m, 0] - p[:n, 0, None]  # kernel.cu:7
    dy = site[:m, 1] - p[:n, 1, None]
    total = dx * dx + dy * dy
    which = which.at[:n].set(total.argmin(axis=1).astype(which.dtype))  # kernel.cu:12
    distance = distance.at[:n].set(total.min(axis=1))  # kernel.cu:13
    return which, distance


@partial(jax.jit, static_argnames=("n", "m"))
def heaviest_open(w, open, which, n, m):
    """The heaviest entry of each row among those that are open, from the last to the first; none: what was there.

    which[i] = last_argmax_(k where open[k] != 0)(w[i, k]) if max_(k where open[k] != 0)(w[i, k]) >
        w[i * m + which[i]] else which[i]
        for 0 <= i < n
    """
    unequal = open[:m] != 0
    w2 = w[: n * m].reshape(n, m)
    i = jnp.arange(n)
    best = which[:n]  # kernel.cu:20
    best_2 = (
        jnp.where(
            jnp.max(jnp.where(unequal, w2, -jnp.inf), axis=1)
            > w.at[i * m + best].get(mode="clip"),
            m
            - 1
            - jnp.argmax(jnp.flip(jnp.where(unequal, w2, -jnp.inf), axis=1), axis=1),
            best,
        )
        if m > 0
        else best
    )
    return which.at[:n].set(best_2.astype(which.dtype))  # kernel.cu:23
