"""Vectorized twin of kernel.cu, written by kraise; edit the source, not this file."""

from functools import partial

import jax
import jax.numpy as jnp

SIZE = 128


def rounds_at_once(many):
    """How many rounds of a loop to unroll: a launch of a GPU costs more than a round, a CPU's cache prefers one."""
    return 1 if jax.default_backend() == "cpu" else many


@partial(jax.jit, static_argnames=("grid", "block"))
def tridiagonal(lower, diagonal, upper, right, x, *, grid=None, block=None):
    """Cyclic reduction: each block solves a tridiagonal system, whose rows it halves the coupling of in each step.

    a[block_x, t] = lower[block_x, t] if t > 0 else 0.0  for 0 <= block_x < grid, 0 <= t < 128
    b[block_x, t] = diagonal[block_x, t]  for 0 <= block_x < grid, 0 <= t < 128
    c[block_x, t] = upper[block_x, t] if t < 127 else 0.0  for 0 <= block_x < grid, 0 <= t < 128
    d[block_x, t] = right[block_x, t]  for 0 <= block_x < grid, 0 <= t < 128
    for stage = 0 ... 6, reach = 1 << stage:
        a[block_x, t] = -before * a[block_x, t - reach] if t >= 1 << stage else 0.0
            for 0 <= block_x < grid, 0 <= t < 128
        b[block_x, t] += (-(before * c[block_x, t - reach]) if t >= reach else 0.0) - after *
            a.7[block_x, t + reach] if t + reach < SIZE else -(before * c[block_x, t - reach])
            for 0 <= block_x < grid, 0 <= t < 128, where t + reach < SIZE or t + reach >= SIZE and t >= reach
        c[block_x, t] = -after * c[block_x, t + reach] if t + (1 << stage) < SIZE else 0.0
            for 0 <= block_x < grid, 0 <= t < 128
        d[block_x, t] += (-(before * d[block_x, t - reach]) if t >= reach else 0.0) - after *
            d[block_x, t + reach] if t + reach < SIZE else -(before * d[block_x, t - reach])
            for 0 <= block_x < grid, 0 <= t < 128, where t + reach < SIZE or t + reach >= SIZE and t >= reach
    x[block_x, t] = d[block_x, t] / b[block_x, t]  for 0 <= block_x < grid, 0 <= t < 128

    a block has 128 threads along x
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block != 128:
        raise ValueError("tridiagonal: a block has 128 threads along x")
    t = jnp.arange(128)
    blocks = x.shape[0] // 128 if grid is None else grid
    lower2 = lower[: 128 * blocks].reshape(blocks, 128)
    a = jnp.where(t > 0, lower2, 0.0)  # kernel.cu:11
    diagonal2 = diagonal[: 128 * blocks].reshape(blocks, 128)
    b = diagonal2  # kernel.cu:12
    upper2 = upper[: 128 * blocks].reshape(blocks, 128)
    c = jnp.where(t < 127, upper2, 0.0)  # kernel.cu:13
    right2 = right[: 128 * blocks].reshape(blocks, 128)
    d = right2  # kernel.cu:14

    def step(stage, state):
        a, b, c, d = state
        reach = 1 << stage  # kernel.cu:16
        above = t >= reach
        below = t + reach < SIZE
        above_2 = t + reach >= SIZE
        either = below | above_2 & above
        before = a / jnp.where(
            either & above_2 | above,
            jax.lax.dynamic_slice_in_dim(
                jnp.pad(b, ((0, 0), (64, 0))), 64 - reach, 128, axis=1
            ),
            1.0,
        )  # kernel.cu:20
        na = -before * jax.lax.dynamic_slice_in_dim(
            jnp.pad(a, ((0, 0), (64, 0))), 64 - reach, 128, axis=1
        )  # kernel.cu:23
        na_2 = jnp.where(above, na, 0.0)
        a_2 = na_2  # kernel.cu:32
        negative = -(
            before
            * jax.lax.dynamic_slice_in_dim(
                jnp.pad(c, ((0, 0), (64, 0))), 64 - reach, 128, axis=1
            )
        )
        after = c / jnp.where(
            below,
            jax.lax.dynamic_slice_in_dim(
                jnp.pad(b, ((0, 0), (0, 64))), reach, 128, axis=1
            ),
            1.0,
        )  # kernel.cu:26
        b_2 = b + jnp.where(
            either,
            jnp.where(
                below,
                jnp.where(above, negative, 0.0)
                - after
                * jax.lax.dynamic_slice_in_dim(
                    jnp.pad(a, ((0, 0), (0, 64))), reach, 128, axis=1
                ),
                negative,
            ),
            0.0,
        )  # kernel.cu:33
        nc = -after * jax.lax.dynamic_slice_in_dim(
            jnp.pad(c, ((0, 0), (0, 64))), reach, 128, axis=1
        )  # kernel.cu:29
        nc_2 = jnp.where(below, nc, 0.0)
        c_2 = nc_2  # kernel.cu:34
        negative_2 = -(
            before
            * jax.lax.dynamic_slice_in_dim(
                jnp.pad(d, ((0, 0), (64, 0))), 64 - reach, 128, axis=1
            )
        )
        d = d + jnp.where(
            either,
            jnp.where(
                below,
                jnp.where(above, negative_2, 0.0)
                - after
                * jax.lax.dynamic_slice_in_dim(
                    jnp.pad(d, ((0, 0), (0, 64))), reach, 128, axis=1
                ),
                negative_2,
            ),
            0.0,
        )  # kernel.cu:35
        return a_2, b_2, c_2, d

    _, b, _, d = jax.lax.fori_loop(
        0, 7, step, (a, b, c, d), unroll=rounds_at_once(32)
    )  # kernel.cu:16
    x2 = d / b  # kernel.cu:38
    return x.at[: 128 * blocks].set(x2.ravel())


@partial(jax.jit, static_argnames=("grid", "block"))
def segmented_sums(x, head, y, *, grid=None, block=None):
    """Running sums that start anew at each head of a segment.

    sum[block_x, t] = x[block_x, t]  for 0 <= block_x < grid, 0 <= t < 128
    seen[block_x, t] = head[block_x, t]  for 0 <= block_x < grid, 0 <= t < 128
    for stage = 0 ... 6, reach = 1 << stage:
        sum[block_x, t] += sum[block_x, t - (1 << stage)]
            for 0 <= block_x < grid, 0 <= t < 128, where seen[block_x, t] == 0 and t >= reach
        seen[block_x, t] = seen[block_x, t] | (seen[block_x, t - reach] if t >= reach else 0)
            for 0 <= block_x < grid, 0 <= t < 128
    y[block_x, t] = sum[block_x, t]  for 0 <= block_x < grid, 0 <= t < 128

    a block has 128 threads along x
    """
    grid = grid[0] if isinstance(grid, tuple) else grid
    block = block[0] if isinstance(block, tuple) else block
    if block is not None and block != 128:
        raise ValueError("segmented_sums: a block has 128 threads along x")
    blocks = y.shape[0] // 128 if grid is None else grid
    x2 = x[: 128 * blocks].reshape(blocks, 128)
    sum = x2  # kernel.cu:47
    head2 = head[: 128 * blocks].reshape(blocks, 128)
    seen = head2  # kernel.cu:48
    t = jnp.arange(128)

    def step(stage, state):
        seen, sum = state
        reach = 1 << stage  # kernel.cu:50
        above = t >= reach
        sum = sum + jnp.where(
            (seen == 0) & above,
            jax.lax.dynamic_slice_in_dim(
                jnp.pad(sum, ((0, 0), (64, 0))), 64 - reach, 128, axis=1
            ),
            0.0,
        )  # kernel.cu:59
        before = jnp.where(
            above,
            jax.lax.dynamic_slice_in_dim(
                jnp.pad(seen, ((0, 0), (64, 0))), 64 - reach, 128, axis=1
            ),
            0,
        )  # kernel.cu:55
        seen = seen | before  # kernel.cu:60
        return seen, sum

    _, sum = jax.lax.fori_loop(
        0, 7, step, (seen, sum), unroll=rounds_at_once(32)
    )  # kernel.cu:50
    y2 = sum  # kernel.cu:63
    return y.at[: 128 * blocks].set(y2.ravel())
