"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp


def rounds_at_once(many):
    """How many rounds of a loop to unroll: a launch of a GPU costs more than a round, a CPU's cache prefers one."""
    return 1 if jax.default_backend() == "cpu" else many


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


@partial(jax.jit, static_argnames=("steps", "grid", "block"))
def block_relaxation(x, y, steps, *, grid=None, block=None):
    """s[block_x, T] = 0.0  for 0 <= block_x < grid
    v = x[block_x, t]  for 0 <= block_x < grid, 0 <= t < 32
    for i = 0 ... steps - 1:
        s[block_x, t] = v  for 0 <= block_x < grid, 0 <= t < 32
        v = 0.5 * (v + s[block_x, t + 1])
    y[block_x] = v  for 0 <= block_x < grid, 0 <= t < 1

    a block has 32 threads along x
    the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block != 32:
        raise ValueError("block_relaxation: a block has 32 threads along x")
    blocks = y.shape[0] if grid is None else grid
    x2 = x[: 32 * blocks].reshape(blocks, 32)

    def step(_, v):
        s = jnp.pad(v, ((0, 0), (0, 1)))  # kernel.cu:10
        return 0.5 * (v + s[:, 1:])  # kernel.cu:12

    v = checkpointed_loop(0, steps, step, x2, unroll=rounds_at_once(8))  # kernel.cu:9
    return y.at[:blocks].set(jnp.sum(v[:, :1], axis=1))  # kernel.cu:15
