"""Flow by the lattice-Boltzmann method by hand. The zeros of a direction stay factors: what they are multiplied with may
be no number."""

from functools import partial

import jax
import jax.numpy as jnp

CX, CY = (0, 1, 0, -1, 0, 1, -1, -1, 1), (0, 0, 1, 0, -1, 1, 1, -1, -1)
WEIGHT = (4 / 9,) + (1 / 9,) * 4 + (1 / 36,) * 4


def _along(f, direction):
    return sum(c * f[q] for q, c in enumerate(direction))


def _collide(f, omega, force):
    rho = f.sum(axis=0)
    ux, uy = _along(f, CX) / rho + force / omega, _along(f, CY) / rho
    square = 1.5 * (ux * ux + uy * uy)

    def equilibrium(x, y, weight):
        cu = 3.0 * (x * ux + y * uy)
        return weight * rho * (1.0 + cu + 0.5 * cu * cu - square)

    aim = jnp.stack([equilibrium(*q) for q in zip(CX, CY, WEIGHT, strict=True)])
    return f + omega * (aim - f)


def _stream(f):
    return jnp.stack([jnp.roll(f[q], (CY[q], CX[q]), axis=(0, 1)) for q in range(9)])


def _speed(f):
    return _along(f, CX) / f.sum(axis=0)


@partial(jax.jit, static_argnames=("nx", "ny"))
def collide(f, omega, force, nx, ny):
    return _collide(f.reshape(9, ny, nx), omega, force).ravel()


@partial(jax.jit, static_argnames=("nx", "ny"))
def stream(f, moved, nx, ny):
    return _stream(f.reshape(9, ny, nx)).ravel()


@partial(jax.jit, static_argnames=("nx", "ny"))
def speed(f, ux, nx, ny):
    return _speed(f.reshape(9, ny, nx)).ravel()


@partial(jax.jit, static_argnames=("nx", "ny", "steps"))
def flow(populations, ux, omega, force, nx, ny, steps):
    def step(_, f):
        return _stream(_collide(f, omega, force))

    f = jax.lax.fori_loop(0, steps, step, populations.reshape(9, ny, nx))
    return f.ravel(), _speed(f).ravel()


def large(rng):
    nx, ny = 200, 150
    f, moved = 0.05 + 0.1 * rng.random((2, 9 * nx * ny), "f")
    box, drive = {"nx": nx, "ny": ny}, {"omega": 1.2, "force": 0.01}
    return {
        "collide": {"f": f} | drive | box,
        "stream": {"f": f, "moved": moved} | box,
        "speed": {"f": f, "ux": f[: nx * ny]} | box,
        "flow": {"populations": f, "ux": f[: nx * ny], "steps": 5} | drive | box,
    }
