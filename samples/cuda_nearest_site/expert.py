"""Nearest sites and heaviest open entries by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "m"))
def nearest_site(p, site, which, distance, n, m):
    dx, dy = site[:m, 0] - p[:n, None, 0], site[:m, 1] - p[:n, None, 1]
    square = dx * dx + dy * dy
    best = square.argmin(axis=1).astype(which.dtype)
    return which.at[:n].set(best), distance.at[:n].set(square.min(axis=1))


@partial(jax.jit, static_argnames=("n", "m"))
def heaviest_open(w, open, which, n, m):
    w, old = w.reshape(n, m), which[:n]
    usable = jnp.where(open[:m] != 0, w, -jnp.inf)
    best = m - 1 - usable[:, ::-1].argmax(axis=1).astype(which.dtype)
    better = usable.max(axis=1) > w[jnp.arange(n), old]
    return which.at[:n].set(jnp.where(better, best, old))


def large(rng):
    n, m = 10_000, 60
    p, site = rng.random((n, 2), "f"), rng.random((m, 2), "f")
    which, mask = rng.integers(0, m, n).astype("int32"), rng.integers(0, 2, m).astype("int32")
    sizes = {"which": which, "n": n, "m": m}
    return {
        "nearest_site": sizes | {"p": p, "site": site, "distance": p[:, 0]},
        "heaviest_open": sizes | {"w": rng.random(n * m, "f"), "open": mask},
    }
