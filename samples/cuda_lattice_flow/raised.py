"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

Q = 9
cx = (0, 1, 0, -1, 0, 1, -1, -1, 1)
cy = (0, 0, 1, 0, -1, 1, 1, -1, -1)
weight = (
    0.4444444444444444,
    0.1111111111111111,
    0.1111111111111111,
    0.1111111111111111,
    0.1111111111111111,
    0.027777777777777776,
    0.027777777777777776,
    0.027777777777777776,
    0.027777777777777776,
)


def checkpointed_loop(start, stop, step, state, unroll=1):
    """``fori_loop`` whose rounds the gradient runs again; in segments of sqrt(n) rounds, where all states are many."""
    step = jax.checkpoint(step, prevent_cse=False)
    rounds = max(stop - start, 0)
    few = 2**22 if jax.default_backend() == "cpu" else 2**28
    if rounds * sum(map(jnp.size, jax.tree.leaves(state))) <= few:
        return jax.lax.fori_loop(start, stop, step, state, unroll=unroll)
    size = max(int(rounds**0.5), 1)

    def segment(k, state):
        first = start + k * size
        return jax.lax.fori_loop(
            0, size, lambda r, s: step(first + r, s), state, unroll=unroll
        )

    segment = jax.checkpoint(segment, prevent_cse=False)
    state = jax.lax.fori_loop(0, rounds // size, segment, state)
    rest = start + rounds // size * size
    return jax.lax.fori_loop(rest, stop, step, state, unroll=unroll)


def swapping_loop(start, stop, step, state, known, period):
    """``checkpointed_loop`` whose values take ``period`` rounds at a time: then each buffer is in its place again."""

    @jax.custom_jvp
    def values(state, *known):
        def advance(r, state):
            return step(r, state, *known)

        last = stop - max(stop - start, 0) % period
        state = jax.lax.fori_loop(start, last, advance, state, unroll=period)
        for r in range(last, stop):
            state = advance(r, state)
        return state

    @values.defjvp
    def derivative(primals, tangents):
        def plain(state, *known):
            several = 1 if jax.default_backend() == "cpu" else period
            return checkpointed_loop(
                start, stop, lambda r, s: step(r, s, *known), state, several
            )

        return jax.jvp(plain, primals, tangents)

    return values(state, *known)


@partial(jax.jit, static_argnames=("nx", "ny"))
def collide(f, omega, force, nx, ny):
    """each cell relaxes towards the equilibrium of its density and velocity

    f[q, y, x] += omega * ((weight[q] * rho) * (1.0 + cu + 0.5 * cu * cu - square) - f[q, y, x])
        for 0 <= x < nx, 0 <= y < ny, 0 <= q < 9
    """
    f3 = f[: 9 * ny * nx].reshape(9, ny, nx)
    rho = f3.sum(axis=0)  # kernel.cu:23
    ux = (
        sum(cx_q * f_q for f_q, cx_q in zip(jnp.unstack(f3), cx)) / rho + force / omega
    )  # kernel.cu:29
    uy = sum(cy_q * f_q for f_q, cy_q in zip(jnp.unstack(f3), cy)) / rho
    square = 1.5 * (ux * ux + uy * uy)

    def term(f_q, weight_q, cx_q, cy_q):
        cu = 3.0 * (cx_q * ux + cy_q * uy)  # kernel.cu:33
        equilibrium = weight_q * rho * (1.0 + cu + 0.5 * cu * cu - square)
        return f_q + omega * (equilibrium - f_q)

    f3 = jnp.stack(
        [term(*q) for q in zip(jnp.unstack(f3), weight, cx, cy)]
    )  # kernel.cu:35
    return f.at[: 9 * ny * nx].set(f3.ravel())


@partial(jax.jit, static_argnames=("nx", "ny"))
def stream(f, moved, nx, ny):
    """each population moves on by its direction; what leaves on one side comes in on the other

    moved[q, y, x] = f[q, (y - cy[q] + ny) % ny, (x - cx[q] + nx) % nx]
        for 0 <= x < nx, 0 <= y < ny, 0 <= q < 9
    """
    f3 = f[: 9 * ny * nx].reshape(9, ny, nx)
    moved3 = jnp.stack(
        [
            jnp.roll(row, (cy[q], cx[q]), axis=(0, 1))
            for q, row in enumerate(jnp.unstack(f3))
        ]
    )  # kernel.cu:47
    return moved.at[: 9 * ny * nx].set(moved3.ravel())


@partial(jax.jit, static_argnames=("nx", "ny"))
def speed(f, ux, nx, ny):
    """
    ux[y, x] = (sum_(0 <= q < 9) cx[q] * f[q, y, x]) / (sum_(0 <= q < 9) f[q, y, x])
        for 0 <= x < nx, 0 <= y < ny
    """
    f3 = f[: 9 * ny * nx].reshape(9, ny, nx)
    ux2 = sum(cx_q * f_q for f_q, cx_q in zip(jnp.unstack(f3), cx)) / f3.sum(
        axis=0
    )  # kernel.cu:60
    return ux.at[: ny * nx].set(ux2.ravel())


@partial(jax.jit, static_argnames=("nx", "ny", "steps"))
def flow(populations, ux, omega, force, nx, ny, steps):
    """the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    moved = jnp.zeros(nx * ny * Q, populations.dtype)
    d_ux = jnp.zeros(nx * ny, populations.dtype)
    f = populations[: nx * ny * Q]

    def advance(_, state, omega, force):
        f, moved = state
        f, moved = f.ravel(), moved.ravel()
        f = collide(f, omega, force, nx, ny)  # kernel.cu:72
        moved = stream(f, moved, nx, ny)  # kernel.cu:73
        return moved.reshape(9, ny, nx), f.reshape(9, ny, nx)

    f, moved = f.reshape(9, ny, nx), moved.reshape(9, ny, nx)
    f, _ = swapping_loop(
        0, steps, advance, (f, moved), (omega, force), 2
    )  # kernel.cu:71
    f = f.ravel()
    d_ux = speed(f, d_ux, nx, ny)  # kernel.cu:78
    populations = populations.at[: nx * ny * Q].set(f)
    ux = ux.at[: nx * ny].set(d_ux)
    return populations, ux
