"""A root that every round of an extremum takes is taken once, of the extremum: ``max_j sqrt(d[j])`` is ``sqrt(max_j
d[j])``.

A root never decreases, and is rounded the same way wherever it is taken. Side conditions: what it is taken of is not
negative by what it is made of (a sum of squares), as a root that is no number would otherwise be passed over, or not;
and there is at least one round, as the extremum of none has no root.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kraise.ir import equations as eq
from kraise.ir.walk import transform
from kraise.raising.gradients.intervals import interval
from kraise.raising.threads.launched import at_least_one


def outside(stmts: tuple[eq.Stmt, ...]) -> tuple[tuple[eq.Stmt, ...], Callable[[eq.Expr], eq.Expr]]:
    """The statements with such roots outside of their extrema, and what names them by their new form."""
    changed: dict[eq.Expr, eq.Expr] = {}

    def statement(s: eq.Stmt) -> eq.Stmt:
        match s:
            case eq.Fold(body=body):
                return replace(s, body=tuple(map(statement, body)))
            case eq.Write(axes=axes, value=value):
                return replace(s, value=transform(value, lambda node: _one(node, axes, changed)))
        return s

    return tuple(map(statement, stmts)), lambda e: transform(e, lambda n: changed.get(n, n))


def _one(node: eq.Expr, around: tuple[eq.Axis, ...], changed: dict[eq.Expr, eq.Expr]) -> eq.Expr:
    match node:
        case eq.Reduce(op="min" | "max", where=None, body=eq.Op(name="sqrt", args=(inner,), type=kind)):
            if inner.type == kind and interval(inner)[0] >= 0 and all(_some(a, around) for a in node.axes):
                out = eq.Op("sqrt", (eq.Reduce(node.op, node.axes, inner, None, kind),), kind)
                return changed.setdefault(node, out)
    return node


def _some(axis: eq.Axis, around: tuple[eq.Axis, ...]) -> bool:
    """Whether an axis has a place wherever a store is made."""
    same = any(a.lo is axis.lo and a.hi is axis.hi and a.step == axis.step for a in around)
    first = isinstance(axis.lo, eq.Const) and axis.lo.value == 0
    return same or (first and at_least_one(axis.hi))


__all__ = ["outside"]
