"""A stack a thread, and a switch with fall-through, by hand."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("n", "length"))
def undo(events, popped, n, length):
    lane = jnp.arange(n)

    def event(state, inputs):
        stack, top = state
        e, old = inputs
        push = (e > 0) & (top < 8)
        pop = ~push & (top > 0)
        stack = stack.at[jnp.where(push, top, 8), lane].set(e, mode="drop")
        top = top + push - pop
        return (stack, top), jnp.where(pop, stack[top, lane], old)

    start = jnp.zeros((8, n), events.dtype), jnp.zeros(n, jnp.int32)
    _, new = jax.lax.scan(event, start, (events.reshape(n, length).T, popped.reshape(n, length).T))
    return new.T.ravel()


@partial(jax.jit, static_argnames="n")
def dispatch(op, x, y, n):
    op, x = op[:n] & 3, x[:n]
    return y.at[:n].set(jnp.select([op == 0, op == 1, op == 2], [(x + 1) * 2, x * 2, x - 3], -x - 3))


def large(rng):
    events = rng.integers(-3, 5, 5000 * 100).astype("int32")
    op, x = rng.integers(0, 9, 1_000_000).astype("int32"), rng.random(1_000_000, "f")
    return {
        "undo": {"events": events, "popped": 0 * events - 1, "n": 5000, "length": 100},
        "dispatch": {"op": op, "x": x, "y": 0 * x, "n": 1_000_000},
    }
