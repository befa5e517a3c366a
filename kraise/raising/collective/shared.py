"""What simulations gave, kept for the next attempts of a search: most meet the same statements with the same numbers.

A simulation is told by its statements and its threads, and by what it was answered when it asked for what was
there before: where the answers are the same now, so is all that it finds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kraise.ir import kernel as k
from kraise.raising.collective.marks import Beyond
from kraise.raising.collective.simulate import Simulation

_KEPT = 48  # runs of statements

Answers = dict[tuple[str, str], object]
_ASKED = ("entry", "cells", "outside", "steady")


class Run:
    """Statements at their places in the source, and what is live after each."""

    __slots__ = ("_hash", "_whole")

    def __init__(self, stmts: tuple[k.Stmt, ...], after: list[frozenset[str]]):
        self._whole = stmts, tuple(s.span for s in stmts), tuple(after)
        self._hash = hash(self._whole)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and self._whole == other._whole

    def __hash__(self) -> int:
        return self._hash


_found: dict[Run, dict[object, list[tuple[Answers, Any]]]] = {}


def simulated(of: Run, how: object, sim: Simulation, run: Callable[[Simulation], Any]) -> Any:
    """``run(sim)``, or what it gave for the same statements and the same rest (``how``)."""
    known = _found.pop(of, {})
    _found[of] = known
    if len(_found) > _KEPT:
        del _found[next(iter(_found))]
    before = known.setdefault((how, sim.size, sim.rows, sim.parts, sim.outlets is None, frozenset(sim.hardware)), [])
    now: Answers = {}
    for answers, done in before:
        if all(_alike(_answer(sim, *asked, now), answer) for asked, answer in answers.items()):
            return done
    answers = _listening(sim)
    done = run(sim)
    before.append((answers, done))
    return done


def _answer(sim: Simulation, function: str, name: str, now: Answers) -> object:
    key = (function, name)
    if key not in now:
        now[key] = _asked(sim, function, getattr(sim, function), name)[0]
    return now[key]


def _asked(sim: Simulation, function: str, ask: Callable[[str], Any], name: str) -> tuple[object, Any, Beyond | None]:
    """The answer as it is kept, the answer itself, and what was raised."""
    extent, sim.by_extent = sim.by_extent, False
    try:
        answer = ask(name)
    except Beyond as beyond:
        return type(beyond), None, beyond
    finally:
        by_extent, sim.by_extent = sim.by_extent, sim.by_extent or extent
    if function == "cells" and answer is not None:
        return (answer[0].copy(), answer[1]), answer, None  # the run writes to them
    return (answer, by_extent) if function == "entry" else answer, answer, None


def _listening(sim: Simulation) -> Answers:
    """What ``sim`` asks for from now on."""
    answers: Answers = {}

    def noted(function: str, ask: Callable[[str], Any]) -> Callable[[str], Any]:
        def noting(name: str) -> Any:
            kept, answer, beyond = _asked(sim, function, ask, name)
            answers.setdefault((function, name), kept)
            if beyond is not None:
                raise beyond
            return answer

        return noting

    for function in _ASKED:
        setattr(sim, function, noted(function, getattr(sim, function)))
    return answers


def _alike(a: object, b: object) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_alike, a, b))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return type(a) is type(b) and bool(a == b)


__all__ = ["Run", "simulated"]
