"""Squared distances of all pairs by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("na", "nb", "dim"))
def squared_distances(a, b, out, na, nb, dim):
    d = a.reshape(na, 1, dim) - b.reshape(nb, dim)
    return (d * d).sum(axis=2).ravel()


def large(rng):
    na, nb, dim = 300, 400, 8
    a, b, out = (rng.random(n, "f") for n in (na * dim, nb * dim, na * nb))
    return {"squared_distances": {"a": a, "b": b, "out": out, "na": na, "nb": nb, "dim": dim}}
