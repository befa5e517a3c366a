"""States that relax towards targets by hand: one scan over the steps."""

from functools import partial

import jax


@partial(jax.jit, static_argnames=("columns", "steps"))
def relax(target, state, rate, columns, steps):
    def step(s, t):
        return s + rate * (t - s), None

    rows = target[: steps * columns].reshape(steps, columns)
    return state.at[:columns].set(jax.lax.scan(step, state[:columns], rows)[0])


def large(rng):
    columns, steps = 5000, 100
    target, state = rng.random(columns * steps, "f"), rng.random(columns, "f")
    launch = {"grid": columns // 16 + 1, "block": 16}
    return {"relax": {"target": target, "state": state, "rate": 0.25, "columns": columns, "steps": steps} | launch}
