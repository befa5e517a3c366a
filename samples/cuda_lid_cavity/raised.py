"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

Q = 9
cx = (0, 1, 0, -1, 0, 1, -1, -1, 1)
cy = (0, 0, 1, 0, -1, 1, 1, -1, -1)
opposite = (0, 3, 4, 1, 2, 7, 8, 5, 6)
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
def advance(f, g, nx, ny, omega, lid):
    """
    g[q, y, x] = (f[opposite[q], y, x] if (...) or (...) or (...) else (...) if (...) else f[q, y -
        cy[q], x - cx[q]]) + omega * (aim - (...))
        for 0 <= x < nx, 0 <= y < ny, 0 <= q < 9
    """
    x = jnp.arange(nx)
    cx_2 = jnp.array(cx, jnp.int32)
    fx = x.astype(jnp.int32) - cx_2[:, None]  # kernel.cu:17
    y = jnp.arange(ny)
    cy_2 = jnp.array(cy, jnp.int32)
    fy = y.astype(jnp.int32) - cy_2[:, None]
    f3 = jnp.resize(f, (9, ny, nx))
    opposite_2 = jnp.array(opposite, jnp.int32)
    f_at = f3[opposite_2]
    weight_2 = jnp.array(weight, jnp.float32)
    choice = jnp.where(
        (fx[:, None, :] < 0) | (fx[:, None, :] >= nx) | (fy[:, :, None] < 0),
        f_at,
        jnp.where(
            fy[:, :, None] >= ny,
            f_at
            + 6.0
            * weight_2[:, None, None]
            * cx_2[:, None, None].astype(jnp.float32)
            * lid,
            jnp.stack(
                [
                    jnp.roll(row, (cy[q], cx[q]), axis=(0, 1))
                    for q, row in enumerate(jnp.unstack(f3))
                ]
            ),
        ),
    )
    rho = choice.sum(axis=0)  # kernel.cu:16
    ux = (
        sum(cx_q * choice_q for choice_q, cx_q in zip(jnp.unstack(choice), cx)) / rho
    )  # kernel.cu:28
    uy = sum(cy_q * choice_q for choice_q, cy_q in zip(jnp.unstack(choice), cy)) / rho
    square = 1.5 * (ux * ux + uy * uy)

    def term(choice_q, weight_q, cx_q, cy_q):
        along = 3.0 * (cx_q * ux + cy_q * uy)  # kernel.cu:32
        aim = weight_q * rho * (1.0 + along + 0.5 * along * along - square)
        return choice_q + omega * (aim - choice_q)

    g3 = jnp.stack(
        [term(*q) for q in zip(jnp.unstack(choice), weight, cx, cy)]
    )  # kernel.cu:34
    return g.at[: 9 * ny * nx].set(g3.ravel())


@partial(jax.jit, static_argnames=("nx", "ny", "steps"))
def cavity(populations, nx, ny, steps, omega, lid):
    """the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    g = jnp.zeros(nx * ny * Q, populations.dtype)
    f = populations[: nx * ny * Q]

    def step(_, state, omega, lid):
        f, g = state
        f, g = f.ravel(), g.ravel()
        g = advance(f, g, nx, ny, omega, lid)  # kernel.cu:47
        return g.reshape(9, ny, nx), f.reshape(9, ny, nx)

    f, g = f.reshape(9, ny, nx), g.reshape(9, ny, nx)
    f, _ = swapping_loop(0, steps, step, (f, g), (omega, lid), 2)  # kernel.cu:46
    f = f.ravel()
    return populations.at[: nx * ny * Q].set(f)
