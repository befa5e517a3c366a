"""Sums over the shares of all threads are sums over what they share (raising.md, step 2).

A grid-stride loop that accumulates, ``for (i = thread; i < n; i += threads) s += x[i]``, whose totals are added up, is
a reduction over the thread ``t`` and the round ``r`` of what holds both as ``r * threads + t`` only: each number below
``n`` once, so one index over ``0 <= i < n``, and the launch does not matter. Side conditions: the thread's range is
``threads``, the rounds are as many as ``n`` needs, and nothing holds one of the two indices by itself.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.conditions import conjuncts
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import children, free_indices, rebuild, topological


def undivided(stmts: tuple[eq.Stmt, ...]) -> tuple[eq.Stmt, ...]:
    """The statements with the sums over threads and rounds of their accumulating writes as sums over one index."""
    return tuple(_statement(s) for s in stmts)


def _statement(s: eq.Stmt) -> eq.Stmt:
    if isinstance(s, eq.Fold):
        return replace(s, body=undivided(s.body))
    if isinstance(s, eq.Write) and isinstance(s.value, eq.Reduce):
        return replace(s, value=_merged(s.value, plain=s.where is None))
    return s


def _merged(node: eq.Reduce, plain: bool) -> eq.Reduce:
    for thread in node.axes:
        for rounds in node.axes:
            found = None if thread is rounds else _one(node, thread, rounds, plain)
            if found is not None:
                return found
    return node


def _one(node: eq.Reduce, thread: eq.Axis, rounds: eq.Axis, plain: bool) -> eq.Reduce | None:
    size = _threads(thread)
    if size is None or node.where is None or not _from_zero(thread) or not _from_zero(rounds):
        return None
    t, r = eq.Index(thread.name, INT), eq.Index(rounds.name, INT)
    place = size * to_poly(r) + to_poly(t)
    parts = conjuncts(node.where)
    for part in parts:
        match part:
            case eq.Op(name="lt", args=(left, stop)) if to_poly(left) == place and not free_indices(stop):
                if not _enough(rounds.hi, to_poly(stop), size):
                    continue
                rest = [p for p in parts if p is not part]
                others = tuple(a for a in node.axes if a is not thread and a is not rounds)
                named = _Renamed(place, t, plain and not rest)
                body, masks = named.over(node.body), [named.over(p) for p in rest]
                if any(free_indices(x) & place.indices() for x in (body, *masks)):
                    return None
                where: eq.Expr | None = None
                for m in masks:
                    where = m if where is None else eq.Op("and", (where, m), m.type)
                axis = eq.Axis(thread.name, thread.lo, stop)
                return replace(node, axes=(axis, *others), body=named.final(body), where=where and named.final(where))
    return None


def _threads(axis: eq.Axis) -> Poly | None:
    """The number of a launch's threads along an axis, as block times grid, where the range is just that."""
    match axis.hi:
        case eq.Param(name=name, type=kind) if name.startswith("threads."):
            block, grid = (eq.Param(f"{part}.{name[-1]}", kind) for part in ("block", "grid"))
            return to_poly(block) * to_poly(grid)
    return None


def _from_zero(axis: eq.Axis) -> bool:
    return axis.step == 1 and to_poly(axis.lo) == Poly({})


def _enough(rounds: eq.Expr, stop: Poly, size: Poly) -> bool:
    """Whether there are ``ceil(stop / size)`` rounds."""
    match rounds:
        case eq.Op(name="floordiv" | "tdiv", args=(above, by)):
            return to_poly(by) == size and to_poly(above) == size + stop - 1
    return False


class _Renamed:
    """Values with one index for ``place``."""

    def __init__(self, place: Poly, thread: eq.Index, plain: bool) -> None:
        self.place, self.plain = place, plain
        self.fresh = eq.Index(f"{thread.name}.shared", INT)
        self.index = thread
        names = place.indices()
        self.names = names

    def over(self, node: eq.Expr, always: bool = True) -> eq.Expr:
        """The value; ``always``: the source computes it for each index, so its loads are in place."""
        if not free_indices(node) & self.names:
            return node
        if node.type.is_integer and not isinstance(node, eq.Read | eq.Cast):
            rest = to_poly(node) - self.place
            if not rest.indices() & self.names:
                return to_expr(rest + to_poly(self.fresh))
        if isinstance(node, eq.Index):
            return node  # stands by itself
        choice = isinstance(node, eq.Op) and node.name in ("select", "and", "or")
        new = rebuild(node, tuple(self.over(c, always and not choice) for c in children(node)))
        if isinstance(new, eq.Read) and always and self.plain:
            new = replace(new, safe=False)
        return new

    def final(self, node: eq.Expr) -> eq.Expr:
        """The fresh index under the thread's name."""
        memo: dict[eq.Expr, eq.Expr] = {self.fresh: self.index}
        for n in topological((node,)):
            if n not in memo:
                memo[n] = rebuild(n, tuple(memo[c] for c in children(n))) if children(n) else n
        return memo[node]
