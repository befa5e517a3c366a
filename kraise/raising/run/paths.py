"""Path conditions: what a branch says, as facts about indices where it says one."""

from __future__ import annotations

from kraise.analysis.conditions import Fact, classify, conjuncts, fact_to_expr, negate, unfloored
from kraise.analysis.delinearize import provable
from kraise.analysis.dependence import impossible
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import transform
from kraise.raising.run.state import State
from kraise.raising.threads.splits import digitwise

ZERO = eq.Const(0, INT)


def add_path(path: tuple[eq.Expr, ...], condition: eq.Expr) -> tuple[eq.Expr, ...]:
    for c in digitwise(condition, path):
        parts = (_beside(u, path) for d in _first(_undivided(c, path), path) for u in unfloored(d))
        path = tuple(dict.fromkeys((*path, *parts)))
    return path


def _undivided(condition: eq.Expr, path: tuple[eq.Expr, ...]) -> eq.Expr:
    """``t % 32 == 0`` where ``t < 32`` as ``t == 0``: the lane of the first warp is the thread."""

    def one(node: eq.Expr) -> eq.Expr:
        match node:
            case eq.Op(name="mod" | "tmod", args=(x, eq.Const(value=int() as size))) if (
                node.type.is_integer and size > 0
            ):
                place = to_poly(x)
                if place.indices() and provable(path, place) and provable(path, -place + (size - 1)):
                    return x
        return node

    return transform(condition, one)


def decided(st: State, condition: eq.Expr) -> bool | None:
    """Whether a condition on indices holds for all instances that come to it, or for none; None if it tells some."""
    if isinstance(condition, eq.Const):
        return bool(condition.value)
    if not any((f := classify(c)) is not None and f.poly.indices() for c in conjuncts(condition)):
        return None
    known = (*st.path, *st.facts)
    if impossible((*known, condition)):
        return False
    return True if impossible((*known, negate(condition))) else None


def _first(condition: eq.Expr, path: tuple[eq.Expr, ...]) -> tuple[eq.Expr, ...]:
    """``y * blockDim.x + x == 0`` as ``y == 0 and x == 0``: indices that are not negative, times extents of the launch,
    which are at least one."""
    fact = classify(condition)
    if fact is None or fact.kind == "ne" or len(fact.poly.terms) < 2:
        return (condition,)
    signs = {c > 0 for c in fact.poly.terms.values()}
    if len(signs) != 1 or (fact.kind == "ge" and True in signs):
        return (condition,)
    found: list[eq.Expr] = []
    for m in fact.poly.terms:
        indices = [a for a in m if isinstance(a, eq.Index)]
        others = [a for a in m if not (isinstance(a, eq.Param) and a.name.startswith(("block.", "grid.", "warps.")))]
        if len(indices) != 1 or others != indices or eq.Op("ge", (indices[0], ZERO), BOOL) not in path:
            return (condition,)
        found.append(eq.Op("eq", (indices[0], ZERO), BOOL))
    return tuple(found)


def _beside(condition: eq.Expr, path: tuple[eq.Expr, ...]) -> eq.Expr:
    """``j != 0`` where ``j >= 0`` as ``j >= 1``: a bound of the index."""
    fact = classify(condition)
    if (
        fact is None
        or fact.kind != "ne"
        or len(fact.poly.indices()) != 1
        or not fact.poly.is_affine_in(fact.poly.indices())
    ):
        return condition
    for side in (fact.poly, -fact.poly):
        if provable(path, side):
            return fact_to_expr(Fact("ge", side - 1))
    return condition
