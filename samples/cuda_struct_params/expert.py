"""A step of reaction and diffusion by hand."""

import dataclasses
from functools import partial
from typing import NamedTuple

import jax


@partial(jax.tree_util.register_dataclass, data_fields=("dx", "dy"), meta_fields=("nx", "ny"))
@dataclasses.dataclass(frozen=True)
class Grid2D:
    nx: int
    ny: int
    dx: float
    dy: float


class Physics(NamedTuple):
    diffusion: float
    decay: float


@jax.jit
def diffuse(u, next, g, p, dt):
    a = u.reshape(g.ny, g.nx)
    mid = a[1:-1, 1:-1]
    lx = (a[1:-1, :-2] - 2.0 * mid + a[1:-1, 2:]) / (g.dx * g.dx)
    ly = (a[:-2, 1:-1] - 2.0 * mid + a[2:, 1:-1]) / (g.dy * g.dy)
    new = mid + dt * (p.diffusion * (lx + ly) - p.decay * mid)
    return next.reshape(g.ny, g.nx).at[1:-1, 1:-1].set(new).ravel()


def large(rng):
    u, new = rng.random((2, 700 * 800), "f")
    return {"diffuse": {"u": u, "next": new, "g": Grid2D(800, 700, 0.5, 0.4), "p": Physics(0.7, 0.1), "dt": 0.01}}
