"""What the round before made: ``y[k] = x[k] - before; before = x[k]``.

A value may be made ahead, for the next round (``if (t + 1 < n) next = x[t + 1]``): a guard that every round but the
last passes does not count, nor one that no round changes, under which there is no value otherwise but the first.
"""

from __future__ import annotations

from kraise.analysis.conditions import conjuncts
from kraise.analysis.dependence import implied
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, substitute, topological, transform
from kraise.raising.carried.problem import Declined, Problem, Solved
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import operation, tidy
from kraise.raising.writes.accumulate import holds


def shift(p: Problem, name: str) -> Solved | Declined:
    """A scalar that every round makes anew and the next one uses: the same function of the index before."""
    c, update, init = p.carries[name], p.updates[name], p.inits[name]
    guards, made = _guarded(p, update, c)
    if made is None or not p.free_of_pending(made):
        return Declined(f"what {name} becomes depends on a carried value")
    if any(isinstance(n, eq.Scan | eq.CarryIn | eq.FoldResult) for n in topological((made, *guards))):
        return Declined(f"what {name} was a round before is no function of the index")
    before_index = operation("sub", (p.index, eq.Const(p.step, INT)), INT)
    starts = eq.Op("eq", (p.index, p.start), BOOL)
    later = (*p.path, *p.range, eq.Op("gt" if p.step > 0 else "lt", (p.index, p.start), BOOL))
    still = tuple(g for g in guards if p.index.name not in free_indices(g))
    if any(g not in still and not implied(later, tidy(p.at(g, before_index))) for g in guards):
        return Declined(f"some rounds make no {name}")
    first = _where(init, still)
    before = tidy(p.at(made, before_index))
    now = _joined(p, starts, first, before, c)
    entry = simplify.select(simplify.conjunction(*still), now, init, c.type) if still else now
    last = p.last()
    final = p.at(made, last)
    if guards:
        passed = simplify.conjunction(*(tidy(p.at(g, last)) for g in guards))
        final = simplify.select(passed, final, tidy(p.at(entry, last)), update.type)
    final = simplify.select(p.runs, final, init, update.type)
    return Solved({name: final}, {c: entry}, "the value of the round before")


def _guarded(p: Problem, update: eq.Expr, c: eq.CarryIn) -> tuple[tuple[eq.Expr, ...], eq.Expr | None]:
    """The conditions under which a round makes the value, and the value; no value if it holds the one before."""
    guards: tuple[eq.Expr, ...] = ()
    while isinstance(update, eq.Op) and update.name == "select" and holds(update, c):
        condition, then, other = update.args
        if then is c:
            condition, then, other = simplify.negation(condition), other, then
        if other is not c or not p.free_of_pending(condition):
            return (), None
        guards, update = (*guards, *conjuncts(condition)), then
    return guards, None if holds(update, c) else update


def _joined(p: Problem, starts: eq.Expr, init: eq.Expr, before: eq.Expr, c: eq.CarryIn) -> eq.Expr:
    """``init`` in the first round, ``before`` in the others: that alone where it is the same in the first."""
    if before.type == init.type == c.type and in_place(tidy(substitute(before, {p.index: p.start}))) is in_place(init):
        return before
    return simplify.select(starts, init, before, c.type)


def in_place(e: eq.Expr) -> eq.Expr:
    """``e`` with what it reads of flat arrays by the one number that each subscript is, whatever rows they have."""

    def one(node: eq.Expr) -> eq.Expr:
        if isinstance(node, eq.Read) and node.view:
            place = Poly()
            for extent, x in zip(node.view, node.subscripts, strict=True):
                place = (place * to_poly(extent) if place.terms else place) + to_poly(x)
            return eq.Read(node.version, (to_expr(place),), node.type)
        if isinstance(node, eq.Read):
            return eq.Read(node.version, tuple(to_expr(to_poly(x)) for x in node.subscripts), node.type)
        return node

    return transform(e, one)


def _where(e: eq.Expr, conditions: tuple[eq.Expr, ...]) -> eq.Expr:
    """``e`` where the conditions hold."""
    return tidy(substitute(e, dict.fromkeys(conditions, simplify.TRUE))) if conditions else e
