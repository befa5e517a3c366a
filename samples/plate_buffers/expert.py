"""Cooling of a plate by hand: steps after the last one change nothing."""

from functools import partial

import jax
import jax.numpy as jnp


def _step(plate, rate):
    around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
    return rate * (around - 4.0 * plate[1:-1, 1:-1])


@jax.jit
def cool(plate, after, change, rate):
    inside = (slice(1, -1), slice(1, -1))
    new = plate[inside] + _step(plate, rate)
    return after.at[inside].set(new), change.at[inside].set(jnp.abs(new - plate[inside]))


@partial(jax.jit, static_argnames="most_steps")
def cool_plate(plate, rate, tolerance, most_steps):
    def turn(_, state):
        def advance(state):
            plate, _ = state
            more = _step(plate, rate)
            return plate.at[1:-1, 1:-1].add(more), ~(jnp.abs(more).max(initial=0) < tolerance)

        return jax.lax.cond(state[1], advance, lambda state: state, state)

    plate, _ = jax.lax.fori_loop(0, most_steps, turn, (plate, True))
    return plate, plate[1:-1].min(axis=1)


def large(rng):
    plate, after, change = rng.random((3, 300, 400), "f")
    return {
        "cool": {"plate": plate, "after": after, "change": change, "rate": 0.2},
        "cool_plate": {"plate": plate, "rate": 0.2, "tolerance": 0.02, "most_steps": 20},
    }
