"""What holds in one round only: the first one that leaves its loop."""

from __future__ import annotations

from collections.abc import Collection

from kraise.analysis.conditions import classify, conjunction, conjuncts
from kraise.analysis.dependence import nonnegative
from kraise.analysis.poly import to_expr, to_poly
from kraise.analysis.segments import plain
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import free_indices
from kraise.raising.run import simplify


def earliest(condition: eq.Expr, index: str, known: Collection[eq.Expr]) -> tuple[eq.Expr, eq.Expr | None]:
    """``(rest, first)`` if ``condition`` is that no round before has left the loop over ``index``, and ``rest``, under
    which the round leaves it: that is round ``first``, if there is one. ``(condition, None)`` for any other.

    ``known`` holds in every round.
    """
    parts = conjuncts(condition)
    for c in parts:
        first = _first(c, index)
        if first is not None:
            rest = [x for x in parts if x is not c]
            leaves = {*map(plain, conjuncts(first.where))} if first.where is not None else set()
            # of what only some of the rounds that leave do (``if a: (if b: found = 1); break``) the first may be none
            also = (x for x in rest if index in free_indices(x) and plain(x) not in leaves)
            if (
                leaves
                and leaves <= {*map(plain, (*rest, *known))}
                and _within(first.axes[0], (*rest, *known))
                and all(plain(x) in map(plain, known) for x in also)
            ):
                return conjunction(rest) or simplify.TRUE, first
    return condition, None


def before(condition: eq.Expr, index: str, known: Collection[eq.Expr]) -> eq.Expr:
    """A round that does not come after the first one that leaves, and does not leave, comes before it."""
    parts, always = conjuncts(condition), {*map(plain, known)}
    for c in parts:
        first = _first(c, index)
        if first is None or first.where is None or not _within(first.axes[0], known):
            continue
        leaves = simplify.conjunction(*(x for x in conjuncts(first.where) if plain(x) not in always))
        stays = simplify.negation(leaves)
        if stays in parts and isinstance(c, eq.Op):
            if _stays_true(leaves, index, c.name == "le"):
                return simplify.conjunction(*(x for x in parts if x is not c))
            sooner = eq.Op({"le": "lt", "ge": "gt"}[c.name], c.args, c.type)
            return simplify.conjunction(*(sooner if x is c else x for x in parts if x is not stays))
    return condition


def _within(axis: eq.Axis, known: Collection[eq.Expr]) -> bool:
    """Whether the rounds in which ``known`` holds are all of the axis: what a break asks of the loop's index itself
    (``if (hit) { …; if (j > 1) break; }``) is in the axis, not in what its rounds ask."""
    i, lo, hi = to_poly(eq.Index(axis.name, INT)), to_poly(axis.lo), to_poly(axis.hi)
    return nonnegative(known, i - lo) and nonnegative(known, hi - i - 1)


def _stays_true(condition: eq.Expr, index: str, upwards: bool) -> bool:
    """Whether a condition on the index that holds in a round holds in all that follow."""
    fact = classify(condition)
    i = eq.Index(index, INT)
    if fact is None or fact.kind != "ge" or index in free_indices(to_expr(fact.poly.without(i))):
        return False
    moves = fact.poly.coefficient(i).value
    return moves is not None and (moves > 0 if upwards else moves < 0)


def _first(condition: eq.Expr, index: str) -> eq.Reduce | None:
    """The first round that leaves, where the condition is that a round does not come after it."""
    match condition:
        case eq.Op(name="le" | "ge" as name, args=(eq.Index() as i, eq.Reduce(axes=(axis,), body=body) as first)):
            kind = "min" if name == "le" else "max"
            if i.name == index and body is i and axis.name == index and first.op == kind and axis.step == 1:
                return first
    return None
