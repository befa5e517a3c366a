"""Loops over time of a bounded number of rounds that end once a condition on what they carry no longer holds.

A round after the last one gives back what it got (``lax.cond``). A GPU's answer to the condition has to reach the host
before the next kernel starts, which takes longer than a small round, so there it is asked once for several rounds.
Those that come after the last run on the state with which the first of them began, where all is defined, and what they
make is dropped: neither their values nor their derivatives are those of a round that the source does not run. The
gradient keeps the states between the groups and runs a group again. Measured on an H200 over hand-written twins that
run every round, with one answer a round and now: values 2.7 and 1.2, 2.7 and 1.1, 3.2 and 1.1, 2.1 and 0.9, 1.0 and
0.2; gradients 1.6 and 1.3, 1.2 and 0.9, 1.05 and 0.6, 1.3 and 0.85, 0.97 and 0.65 (the rounds of a group written out:
as a loop within ``cond`` the gradients take up to twice as long).
"""

from __future__ import annotations

from kraise.emit.loops import remat

NAME = "checkpointed_while"
SEVERAL = 8


def helper(imports: dict[str, str]) -> list[str]:
    """The text of the helper."""
    words = {"name": imports[NAME], "loop": imports[remat.LOOP], "jax": imports["jax"], "jnp": imports["jnp"]}
    return _TEXT.format(**words, several=SEVERAL).strip("\n").split("\n")


_TEXT = '''
def {name}(start, stop, live, step, state):
    """``{loop}`` that ends once ``live(state)`` is false.

    A GPU is asked every {several} rounds: an answer takes longer than a small round.
    """

    def where(more, a, b):
        return {jax}.tree.map(lambda x, y: {jnp}.where(more, x, y), a, b)

    def together(r, first):
        state = step(r, first)
        for k in range(1, {several}):
            more = live(state) & (r + k < stop)
            made = step(r + k * more, where(more, state, first))
            state = where(more, made, state)
        return state

    def again(rounds, r, state):
        return {jax}.lax.cond(live(state), rounds, lambda _, s: s, r, state)

    if {jax}.default_backend() == "cpu":
        return {loop}(start, stop, lambda r, s: again(step, r, s), state)
    groups = -((start - stop) // {several})
    return {loop}(
        0, groups, lambda g, s: again(together, start + {several} * g, s), state
    )
'''
