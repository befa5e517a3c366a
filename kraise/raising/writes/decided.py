"""Selects whose condition is known where they stand, and minima of which one number is known to be the smaller."""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.conditions import classify, conjunction, conjuncts, negate
from kraise.analysis.dependence import implied
from kraise.ir import equations as eq
from kraise.ir.types import BOOL
from kraise.ir.walk import axes_of, children, free_indices, rebuild, topological
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import index_like
from kraise.raising.writes.clamps import clamped


def decided(value: eq.Expr, path: tuple[eq.Expr, ...]) -> eq.Expr:
    """``value`` with the selects gone whose condition the path decides.

    What the path says of an index does not hold where a reduction or a scan runs over an index of that name.
    """
    return _Decider().expression(value, path)


def unclamped(subscript: eq.Expr, path: tuple[eq.Expr, ...]) -> eq.Expr:
    """``min(i, n - 1)`` as ``i`` where the path says that ``i < n`` (a place that is computed before the guard)."""
    clamps = any(isinstance(n, eq.Op) and n.name in ("min", "max") for n in topological((subscript,)))
    return decided(subscript, path) if clamps and index_like(subscript) else subscript


class _Decider:
    def __init__(self) -> None:
        self.done: dict[tuple[eq.Expr, tuple[eq.Expr, ...]], eq.Expr] = {}
        self.verdicts: dict[tuple[eq.Expr, tuple[eq.Expr, ...]], bool | None] = {}

    def expression(self, e: eq.Expr, path: tuple[eq.Expr, ...]) -> eq.Expr:
        key = (e, path)
        if key not in self.done:
            self.done[key] = self._one(e, path)
        return self.done[key]

    def _one(self, e: eq.Expr, path: tuple[eq.Expr, ...]) -> eq.Expr:
        axes = axes_of(e)
        hidden = {a.name for a in axes} if isinstance(e, eq.Reduce | eq.ArgReduce | eq.Scan) else set()
        inner = tuple(c for c in path if not free_indices(c) & hidden) if hidden else path
        parts = children(e)
        bounds = 2 * len(axes)
        node = rebuild(e, tuple(self.expression(c, path if i < bounds else inner) for i, c in enumerate(parts)))
        if isinstance(node, eq.Reduce) and node.where is not None:
            where = conjuncts(node.where)
            kept = [c for c in where if free_indices(c) & hidden or not self.verdict(c, inner)]
            return node if len(kept) == len(where) else replace(node, where=conjunction(kept))
        if isinstance(node, eq.Op) and node.name in ("min", "max") and node.type.is_integer and free_indices(node):
            return self._extremum(node, path)
        if isinstance(node, eq.Op) and node.name in ("and", "or") and free_indices(node):
            return self._connected(node, path)
        if not (isinstance(node, eq.Op) and node.name == "select"):
            return node
        answer = self.verdict(node.args[0], path)
        if answer is None:
            c, a, b = node.args
            return clamped(c, a, b, path) or simplify.op("select", node.args, node.type)
        arm = node.args[1] if answer else node.args[2]
        return simplify.cast(node.type, arm) if _differs(arm, node) else arm

    def _connected(self, node: eq.Op, path: tuple[eq.Expr, ...]) -> eq.Expr:
        """``i == n - 1 or y`` as ``y`` where the path says that ``i < n - 1``."""
        a, b = node.args
        for one, other in ((a, b), (b, a)):
            answer = self.verdict(one, path) if free_indices(one) else None
            if answer is not None:
                return other if answer is (node.name == "and") else eq.Const(answer, BOOL)
        return node

    def _extremum(self, node: eq.Op, path: tuple[eq.Expr, ...]) -> eq.Expr:
        """``min(x, n - 1)`` as ``x`` where the path says that ``x < n``."""
        a, b = node.args
        for one, other in ((a, b), (b, a)):
            first = eq.Op("le" if node.name == "min" else "ge", (one, other), BOOL)
            if (one.type == node.type or index_like(one)) and self.verdict(first, path):
                return one
        return node

    def verdict(self, c: eq.Expr, path: tuple[eq.Expr, ...]) -> bool | None:
        key = (c, path)
        if key not in self.verdicts:
            self.verdicts[key] = _verdict(c, path)
        return self.verdicts[key]


def _verdict(c: eq.Expr, path: tuple[eq.Expr, ...]) -> bool | None:
    """Whether ``path`` makes ``c`` true or false; None if it does neither."""
    if c in path:
        return True
    if negate(c) in path:
        return False
    if classify(c) is None:
        return None
    if implied(path, c):
        return True
    return False if implied(path, negate(c)) else None


def _differs(arm: eq.Expr, node: eq.Expr) -> bool:
    return arm.type != node.type and arm.type.bits is not None and node.type.bits is not None
