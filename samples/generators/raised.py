"""Vectorized twin of kernel.py, written by kraise; edit the source, not this file.

Random numbers from integers of a fixed width, each exact to the bit.
"""

from functools import partial

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)  # kernel.py uses 64 bits


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


@jax.jit
def pcg_hash(keys, hashes):
    """PCG's output permutation as a hash.

    hashes[i] = word >> 22 ^ word  for 0 <= i < hashes.shape[0]
    """
    state = keys[: hashes.shape[0]].astype(jnp.uint32) * 747796405 + jnp.uint32(
        2891336453
    )  # kernel.py:12
    word = (state >> (state >> 28) + 4 ^ state) * 277803737
    return (word >> 22 ^ word).astype(hashes.dtype)  # kernel.py:14


@jax.jit
def splitmix(seeds, values):
    """A row of splitmix64's numbers for each seed.

    values[i, k] = z ^ z >> 31  for 0 <= i < values.shape[0], 0 <= k < values.shape[1]
    """
    rows, cols = values.shape
    k = jnp.arange(cols)
    total = (
        seeds[:rows, None].astype(jnp.uint64)
        + k.astype(jnp.uint64) * jnp.uint64(11400714819323198485)
        + jnp.uint64(11400714819323198485)
    )
    z = (total ^ total >> 30) * jnp.uint64(13787848793156543929)  # kernel.py:25
    z_2 = (z ^ z >> 27) * jnp.uint64(10723151780598845931)
    return (z_2 ^ z_2 >> 31).astype(values.dtype)  # kernel.py:27


@partial(jax.jit, static_argnames="rounds")
def minimal_standard(seeds, numbers, rounds):
    """The generator of ANSI C's rand().

    state = seeds[i]  for 0 <= i < numbers.shape[0]
    for k = 0 ... rounds - 1:
        state = (1103515245 * state + 12345) % 2147483648
    numbers[i] = state  for 0 <= i < numbers.shape[0]

    the gradient keeps the states between rounds, about 2 sqrt(rounds)
    where all would be many, and runs rounds again (--remat)
    """

    def step(_, state):
        return (1103515245 * state + 12345) % jnp.int64(2147483648)  # kernel.py:37

    state = checkpointed_loop(
        0,
        rounds,
        step,
        seeds[: numbers.shape[0]].astype(jnp.result_type(seeds, jnp.int64)),
        unroll=rounds_at_once(32),
    )  # kernel.py:36
    return state.astype(numbers.dtype)  # kernel.py:38
