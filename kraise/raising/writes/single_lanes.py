"""Lanes of a fold of which there is one (``if (threadIdx.x == 0 && blockIdx.x == 0)``): no axis of what it carries.

An axis of extent 1 says nothing: what a fold carries over it is one value, in which the index is the number that it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import map_statement, statements, substitute, topological, transform

Stmts = tuple[eq.Stmt, ...]
_Places = dict[tuple[str, str], frozenset[int]]  # of a fold's scalar: which of its axes go


def without_single_lanes(stmts: Stmts, others: Iterable[eq.Expr]) -> tuple[Stmts, Callable[[eq.Expr], eq.Expr]]:
    """The statements without such axes, and what names values by their new form; what ``others`` ask for stays."""
    gone: _Places = {}
    asked = {(n.fold, n.name) for n in topological(others) if isinstance(n, eq.FoldResult)}
    for s in statements(stmts):
        for c in s.scalars if isinstance(s, eq.Fold) else ():
            single = frozenset(at for at, a in enumerate(c.axes) if _number(a) is not None)
            if single and (s.name, c.name) not in asked:  # type: ignore[union-attr]
                gone[s.name, c.name] = single  # type: ignore[union-attr]
    if not gone:
        return stmts, lambda e: e

    def one(node: eq.Expr) -> eq.Expr:
        if isinstance(node, eq.CarryIn | eq.FoldResult):
            return replace(node, axes=_left(node.axes, gone.get((node.fold, node.name), frozenset())))
        return node

    def fn(e: eq.Expr) -> eq.Expr:
        return transform(e, one)

    return tuple(_carried(map_statement(s, fn), gone) for s in stmts), fn


def _carried(s: eq.Stmt, gone: _Places) -> eq.Stmt:
    if not isinstance(s, eq.Fold):
        return s
    scalars = []
    for c in s.scalars:
        places = gone.get((s.name, c.name), frozenset())
        numbers: dict[eq.Expr, eq.Expr] = {eq.Index(c.axes[at].name, INT): c.axes[at].lo for at in places}
        init, update = (substitute(e, numbers) if numbers else e for e in (c.init, c.update))
        scalars.append(replace(c, axes=_left(c.axes, places), init=init, update=update))
    return replace(s, scalars=tuple(scalars), body=tuple(_carried(x, gone) for x in s.body))


def _left(axes: tuple[eq.Axis, ...], places: frozenset[int]) -> tuple[eq.Axis, ...]:
    return tuple(a for at, a in enumerate(axes) if at not in places)


def _number(a: eq.Axis) -> int | None:
    """The one number that an index is."""
    match a.lo, a.hi:
        case eq.Const(value=int(lo)), eq.Const(value=int(hi)) if hi == lo + 1:
            return lo
    return None


__all__ = ["without_single_lanes"]
