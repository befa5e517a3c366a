"""Random numbers from integers by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@jax.jit
def pcg_hash(keys, hashes):
    state = keys.astype(jnp.uint32) * jnp.uint32(747796405) + jnp.uint32(2891336453)
    word = ((state >> ((state >> 28) + 4)) ^ state) * jnp.uint32(277803737)
    return (word >> 22) ^ word


@jax.jit
def splitmix(seeds, values):
    turns = jnp.arange(1, values.shape[1] + 1, dtype=jnp.uint64)
    z = seeds.astype(jnp.uint64)[:, None] + turns * jnp.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> 30)) * jnp.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> 27)) * jnp.uint64(0x94D049BB133111EB)
    return z ^ (z >> 31)


@partial(jax.jit, static_argnames="rounds")
def minimal_standard(seeds, numbers, rounds):
    """A loop, as the source has it: that all rounds are one affine map is number theory that it does not say."""
    return jax.lax.fori_loop(0, rounds, lambda _, s: (1103515245 * s + 12345) % 2**31, seeds)
