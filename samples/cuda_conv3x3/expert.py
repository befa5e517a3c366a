"""A 3x3 convolution on the inside of an image by hand."""

from functools import partial

import jax

TAPS = ((0.2, 0.5, -0.8), (-0.3, 0.6, -0.9), (0.4, 0.7, 0.1))


@partial(jax.jit, static_argnames=("ni", "nj"))
def conv3x3(A, B, ni, nj):
    a = A.reshape(ni, nj)
    new = sum(TAPS[p][q] * a[p : ni - 2 + p, q : nj - 2 + q] for p in range(3) for q in range(3))
    return B.reshape(ni, nj).at[1:-1, 1:-1].set(new).ravel()


def large(rng):
    a = rng.random(1000 * 1200, "f")
    return {"conv3x3": {"A": a, "B": 0 * a, "ni": 1000, "nj": 1200}}
