"""Local alignment by hand: two anti-diagonals are carried, the table is skewed back in the end."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "m"))
def sweep(score, first, second, n, m, d, gap):
    s = score.reshape(n + 1, m + 1)
    i = jnp.arange(1, n + 1)
    j = d - i
    same = jnp.where(first == second[j - 1], 2, -1)
    best = jnp.maximum(jnp.maximum(s[i - 1, j], s[i, j - 1]) - gap, s[i - 1, j - 1] + same)
    j = jnp.where((j >= 1) & (j <= m), j, m + 1)
    return s.at[i, j].set(jnp.maximum(best, 0), mode="drop").ravel()


@partial(jax.jit, static_argnames=("n", "m"))
def align(score, first, second, n, m, gap):
    s = score.reshape(n + 1, m + 1)
    i = jnp.arange(n + 1)
    top = jnp.pad(s[0], (0, n))  # where a diagonal meets the upper and the left edge
    left = jnp.pad(s[:, 0], (0, m))
    backwards = jnp.pad(second[::-1], n)

    def step(diagonals, d):
        before, last = diagonals
        other = jax.lax.dynamic_slice(backwards, (n + m - d + 1,), (n,))
        same = jnp.where(first == other, 2, -1)
        best = jnp.maximum(jnp.maximum(last[:-1], last[1:]) - gap, before[:-1] + same)
        new = jnp.concatenate((top[d][None], jnp.maximum(best, 0)))
        new = jnp.where(i == d, left[d], new)
        return (last, new), new

    two = jnp.where(i == 0, top[0], 0), jnp.where(i == 0, top[1], jnp.where(i == 1, left[1], 0))
    _, table = jax.lax.scan(step, two, jnp.arange(2, n + m + 1))
    skewed = jnp.concatenate((jnp.stack(two), table)).T
    s = jnp.pad(skewed.ravel(), (0, n + 1)).reshape(n + 1, n + m + 2)
    return s[:, : m + 1].ravel()


def large(rng):
    n, m = 500, 600
    first, second = rng.integers(0, 4, n).astype("int8"), rng.integers(0, 4, m).astype("int8")
    table = {"first": first, "second": second, "n": n, "m": m, "gap": 1}
    score = rng.integers(0, 5, (n + 1) * (m + 1)).astype("int32")
    return {"sweep": table | {"score": score, "d": 400}, "align": table | {"score": 0 * score}}
