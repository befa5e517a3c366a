"""A product and its transposed by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("nx", "ny"))
def matvec(nx, ny, A, x, tmp):
    return A.reshape(nx, ny) @ x


@partial(jax.jit, static_argnames=("nx", "ny"))
def matvec_transposed(nx, ny, A, y, tmp):
    return tmp @ A.reshape(nx, ny)


@partial(jax.jit, static_argnames=("nx", "ny"))
def normal_equations(nx, ny, A, x, y, tmp):
    A = A.reshape(nx, ny)
    tmp = A @ x
    return tmp @ A, tmp


def large(rng):
    nx, ny = 1000, 1200
    sizes = {"nx": nx, "ny": ny}
    arrays = {name: rng.random(size, "f") for name, size in {"A": nx * ny, "x": ny, "y": ny, "tmp": nx}.items()}
    return dict.fromkeys(("matvec", "matvec_transposed", "normal_equations"), sizes | arrays)
