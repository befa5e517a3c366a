"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

TILE = 32


def checkpointed_loop(start, stop, step, state):
    """``fori_loop`` whose rounds the gradient runs again; in segments of sqrt(n) rounds, where all states are many."""
    step = jax.checkpoint(step, prevent_cse=False)
    rounds = max(stop - start, 0)
    few = 2**22 if jax.default_backend() == "cpu" else 2**28
    if rounds * sum(map(jnp.size, jax.tree.leaves(state))) <= few:
        return jax.lax.fori_loop(start, stop, step, state)
    size = max(int(rounds**0.5), 1)

    def segment(k, state):
        first = start + k * size
        return jax.lax.fori_loop(0, size, lambda r, s: step(first + r, s), state)

    segment = jax.checkpoint(segment, prevent_cse=False)
    state = jax.lax.fori_loop(0, rounds // size, segment, state)
    return jax.lax.fori_loop(start + rounds // size * size, stop, step, state)


@partial(jax.jit, static_argnames=("cols", "row", "steps", "grid", "block"))
def ways_down(cost, from_, to, cols, row, steps, *, grid=None, block=None):
    """The cheapest way down a grid of costs, some rows at a time: each step goes straight down or to a neighbour.

    here[block_x, t] = from[32 * block_x + t - 2 * block_x * steps - steps]
        for 0 <= block_x < grid, 0 <= t < 32, where 32 * block_x + t - 2 * block_x * steps - steps >= 0 and 32 * block_x + t - 2 * block_x * steps - steps < cols
    for s = 0 ... steps - 1:
        next[block_x, t] = least + cost[s + row, 32 * block_x + t - 2 * block_x * steps - steps]
            for 0 <= block_x < grid, 1 <= t < 31, where t >= 2 * block_x * steps + steps - 32 * block_x and t <= 2 * block_x * steps + cols + steps - 32 * block_x - 1 and t >= s + 1 and t <= 30 - s
        here[block_x, t] = least + cost[s + row, 32 * block_x + t - 2 * block_x * steps - steps]
            for 0 <= block_x < grid, 1 <= t < 31, where steps - s - 2 >= 0 and t >= 2 * block_x * steps + steps - 32 * block_x and t <= 2 * block_x * steps + cols + steps - 32 * block_x - 1 and t >= s + 1 and t <= 30 - s
    to[block_x, t - steps] = next[block_x, t]
        for 0 <= block_x < grid, max(0, steps) <= t < min(32, 32 - steps), where 0 < steps and t >= 2 * block_x * steps + steps - 32 * block_x and t <= 2 * block_x * steps + cols + steps - 32 * block_x - 1

    a block has 32 threads along x
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block != 32:
        raise ValueError("ways_down: a block has 32 threads along x")
    if steps == 0:
        return to
    blocks = (
        (to.shape[0] + 31 - 2 * steps) // (32 - 2 * steps) if grid is None else grid
    )
    block_x = jnp.arange(blocks)
    t = jnp.arange(32)
    difference = 32 * block_x[:, None] + t - 2 * (block_x[:, None] * steps) - steps
    here = jnp.zeros((blocks, TILE), from_.dtype)  # kernel.cu:7
    here = jnp.where(
        (difference >= 0) & (difference < cols),
        from_.at[difference].get(mode="clip"),
        here,
    )  # kernel.cu:17
    next = jnp.zeros((blocks, TILE), cost.dtype)  # kernel.cu:8
    t_2 = jnp.arange(1, 31)
    product = 2 * (block_x * steps)
    difference_2 = product + steps - 32 * block_x
    above = t_2 >= difference_2[:, None]
    difference_3 = product + cols + steps - 32 * block_x - 1
    below = t_2 <= difference_3[:, None]
    left = jnp.maximum(t_2 - 1, jnp.maximum(difference_2[:, None], 0))  # kernel.cu:14
    right = jnp.minimum(t_2 + 1, jnp.minimum(difference_3[:, None], 31))
    cost2 = jnp.resize(cost, (row + steps, cols))

    def step(s, state):
        here, next = state
        above_2 = t_2 >= s + 1
        below_2 = t_2 <= 30 - s
        least = jnp.minimum(
            jnp.minimum(
                here.at[block_x[:, None], left].get(mode="clip"), here[:, 1:31]
            ),
            here.at[block_x[:, None], right].get(mode="clip"),
        )  # kernel.cu:24
        next_new = least + cost2.at[
            jnp.clip(s + row, 0, row + steps - 1),
            32 * block_x[:, None] + t_2 - product[:, None] - steps,
        ].get(mode="clip")
        next = next.at[:, 1:31].set(
            jnp.where(above & below & above_2 & below_2, next_new, next[:, 1:31])
        )  # kernel.cu:25
        here = here.at[:, 1:31].set(
            jnp.where(
                (steps - s - 2 >= 0) & above & below & above_2 & below_2,
                next_new,
                here[:, 1:31],
            )
        )  # kernel.cu:29
        return here, next

    _, next = jax.lax.fori_loop(0, steps, step, (here, next))  # kernel.cu:20
    t_3 = jnp.arange(max(0, steps), min(32, 32 - steps))
    above_2 = t_3 >= difference_2[:, None]
    below_2 = t_3 <= difference_3[:, None]
    to2 = jnp.resize(to, (blocks, 32 - 2 * steps))
    to2 = to2.at[
        jnp.where((0 < steps) & above_2 & below_2, block_x[:, None], blocks),
        t_3 - steps,
    ].set(
        next[:, max(0, steps) : max(min(32, 32 - steps), 0)], mode="drop"
    )  # kernel.cu:32
    return to.at[: blocks * (32 - 2 * steps)].set(to2.ravel()[: to.size])


@partial(jax.jit, static_argnames=("steps", "grid", "block"))
def rods(u, out, c, steps, *, grid=None, block=None):
    """Heat in rods of TILE cells each, whose ends keep their temperature: two buffers in turn.

    old[block_x, t] = u[block_x, t]  for 0 <= block_x < grid, 0 <= t < 32
    for s = 0 ... steps - 1:
        old[block_x, t] += c * (old[block_x, t - 1] - 2.0 * old[block_x, t] + old[block_x, t + 1])
            for 0 <= block_x < grid, 1 <= t < 31
    out[block_x, t] = old[block_x, t]  for 0 <= block_x < grid, 0 <= t < 32

    a block has 32 threads along x
    the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block != 32:
        raise ValueError("rods: a block has 32 threads along x")
    blocks = out.shape[0] // 32 if grid is None else grid
    u2 = u[: 32 * blocks].reshape(blocks, 32)
    old = u2  # kernel.cu:39

    def step(_, old):
        return old.at[:, 1:31].add(
            c * (old[:, :30] - 2.0 * old[:, 1:31] + old[:, 2:])
        )  # kernel.cu:47

    old = checkpointed_loop(0, steps, step, old)  # kernel.cu:40
    out2 = old  # kernel.cu:49
    return out.at[: 32 * blocks].set(out2.ravel())
