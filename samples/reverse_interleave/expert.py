"""Two arrays interleaved by hand."""

import jax
import jax.numpy as jnp


@jax.jit
def reverse_interleave(a, b, out):
    n = a.size
    return out.at[: 2 * n].set(jnp.stack((a[::-1], b[1 : 3 * n : 3]), axis=1).ravel())


def large(rng):
    n = 500_000
    return {"reverse_interleave": {"a": rng.random(n, "f"), "b": rng.random(3 * n, "f"), "out": rng.random(2 * n + 2, "f")}}
