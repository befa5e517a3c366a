"""Flow in a cavity under a moving lid by hand: populations move within a rim of zeros, walls give back the opposites."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

CX, CY = np.array((0, 1, 0, -1, 0, 1, -1, -1, 1)), np.array((0, 0, 1, 0, -1, 1, 1, -1, -1))
OPPOSITE = np.array((0, 3, 4, 1, 2, 7, 8, 5, 6))
WEIGHT = np.array((4 / 9,) + (1 / 9,) * 4 + (1 / 36,) * 4, np.float32)


def _advance(f, omega, lid):
    _, ny, nx = f.shape
    wide = jnp.pad(f, ((0, 0), (1, 1), (1, 1)))
    moved = [wide[q, 1 - CY[q] : 1 - CY[q] + ny, 1 - CX[q] : 1 - CX[q] + nx] for q in range(9)]
    x, y = np.arange(nx) - CX[:, None, None], np.arange(ny)[:, None] - CY[:, None, None]
    walls = (x < 0) | (x >= nx) | (y < 0)
    came = jnp.where((y >= ny) & ~walls, f[OPPOSITE] + (6.0 * WEIGHT * CX)[:, None, None] * lid, f[OPPOSITE])
    f = jnp.where(walls | (y >= ny), came, jnp.stack(moved))
    rho = f.sum(axis=0)
    ux, uy = (sum(c * f[q] for q, c in enumerate(along) if c) / rho for along in (CX, CY))
    square = 1.5 * (ux * ux + uy * uy)

    def aim(x, y, weight):
        along = 3.0 * (x * ux + y * uy)
        return weight * rho * (1.0 + along + 0.5 * along * along - square)

    return f + omega * (jnp.stack([aim(*q) for q in zip(CX, CY, WEIGHT, strict=True)]) - f)


@partial(jax.jit, static_argnames=("nx", "ny"))
def advance(f, g, nx, ny, omega, lid):
    return _advance(f.reshape(9, ny, nx), omega, lid).ravel()


@partial(jax.jit, static_argnames=("nx", "ny", "steps"))
def cavity(populations, nx, ny, steps, omega, lid):
    f = populations.reshape(9, ny, nx)
    return jax.lax.fori_loop(0, steps, lambda _, f: _advance(f, omega, lid), f).ravel()


def large(rng):
    nx, ny = 200, 150
    f, g = 0.05 + 0.1 * rng.random((2, 9 * nx * ny), "f")
    box = {"nx": nx, "ny": ny, "omega": 1.2, "lid": 0.1}
    return {"advance": {"f": f, "g": g} | box, "cavity": {"populations": f, "steps": 5} | box}
