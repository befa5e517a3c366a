"""The seven-point stencil by hand."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("nx", "ny", "nz"))
def stencil3d(in_, out, nx, ny, nz, alpha, beta):
    u = in_.reshape(nz, ny, nx)
    near = u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
    near += u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1]
    new = alpha * u[1:-1, 1:-1, 1:-1] + beta * near
    return out.reshape(nz, ny, nx).at[1:-1, 1:-1, 1:-1].set(new).ravel()


def large(rng):
    size = {"nx": 120, "ny": 110, "nz": 100, "alpha": 0.4, "beta": 0.1}
    return {"stencil3d": {"in_": rng.random(1_320_000), "out": rng.random(1_320_000)} | size}
