"""Path conditions: what a branch says, as facts about indices where it says one."""

from __future__ import annotations

from kraise.analysis.conditions import Fact, classify, fact_to_expr, unfloored
from kraise.analysis.delinearize import provable
from kraise.ir import equations as eq
from kraise.raising.threads.splits import digitwise


def add_path(path: tuple[eq.Expr, ...], condition: eq.Expr) -> tuple[eq.Expr, ...]:
    parts = (_beside(u, path) for c in digitwise(condition, path) for u in unfloored(c))
    return tuple(dict.fromkeys((*path, *parts)))


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
