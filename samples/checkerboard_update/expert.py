"""One colour of a chequerboard by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def checkerboard_update(spin, field, parity, beta):
    i, j = jnp.indices(spin.shape, sparse=True)
    return jnp.where((i + j) % 2 == parity, (1.0 - beta) * spin + beta * field, spin)
