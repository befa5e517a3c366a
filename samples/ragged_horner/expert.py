"""A polynomial of its own degree for each point, by hand: Horner's rule for all rows at once, to the longest one.

No sum of ``c * x**power``: its powers overflow where Horner's rule does not (zeros in front, terms that cancel), and
0 * inf is NaN.
"""

import equinox.internal as eqxi
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def ragged_horner(ptr, c, x, y):
    lengths = jnp.diff(ptr)
    longest = lengths.max()

    def step(state):
        k, value = state
        more = value * x + c.at[ptr[:-1] + k].get(mode="clip")
        return k + 1, jnp.where(k < lengths, more, value)

    start = 0, jnp.zeros_like(x)
    return eqxi.while_loop(lambda state: state[0] < longest, step, start, kind="checkpointed", checkpoints=32)[1]


def large(rng):
    n, m = 20_000, 200_000
    ptr = np.concatenate(([0], np.cumsum(np.bincount(rng.integers(0, n, m), minlength=n)))).astype("int32")
    return {
        "ragged_horner": {"ptr": ptr, "c": rng.random(m, "f"), "x": rng.random(n, "f") - 0.5, "y": rng.random(n, "f")}
    }
