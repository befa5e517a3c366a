"""A flag that a round sets and none clears: whether the round comes after the first one in which something holds."""

from __future__ import annotations

from kraise.ir import equations as eq
from kraise.ir.types import BOOL
from kraise.ir.walk import substitute
from kraise.raising.carried.problem import Declined, Problem, Solved
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import tidy
from kraise.raising.writes.accumulate import holds


def sets(update: eq.Expr, c: eq.Expr) -> eq.Expr | None:
    """The condition under which a round sets the flag ``c``; None if it may clear it."""
    if update.type.kind != "bool" or c.type.kind != "bool":
        return None
    if tidy(substitute(update, {c: simplify.TRUE})) is not simplify.TRUE:
        return None
    return tidy(substitute(update, {c: simplify.FALSE}))


def flag(p: Problem, name: str) -> Solved | Declined:
    """``done = done or cond``, where the rounds ask for ``done``: a comparison with the first index at which ``cond``
    holds, one reduction where a running any is many."""
    c, update = p.carries[name], p.updates[name]
    condition = sets(update, c)
    if condition is None:
        return Declined(f"{name} is not a flag that is only set")
    if holds(condition, c) or not p.free_of_pending(condition):
        return Declined(f"when {name} is set depends on another carried value")
    first = p.reduce("min" if p.step > 0 else "max", p.index, condition)
    after = ("gt", "ge") if p.step > 0 else ("lt", "le")
    before = p.inits[name]
    entered, left = (simplify.disjunction(before, eq.Op(op, (p.index, first), BOOL)) for op in after)
    final = simplify.disjunction(before, p.any(condition))
    return Solved({name: final}, {update: left, c: entered}, "the first round that leaves")
