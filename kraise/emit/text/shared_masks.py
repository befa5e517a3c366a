"""``a | b | c`` as ``either | c`` where a round has ``either = a | b`` as a mask, or ``~both | c`` with ``~a & ~b``.

Lanes that leave a loop at one of two exits are masked at the second one, and have left after either: what the mask is
made of, XLA would make once more (the cosine of a Newton step, a third time).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kraise.emit import tree
from kraise.emit.loads.masks import conjuncts, negated
from kraise.ir import equations as eq
from kraise.ir.types import BOOL


def shared(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such conditions in what its loops carry."""
    return replace(kernel, body=tuple(map(_statement, kernel.body)))


def _statement(stmt: eq.Stmt) -> eq.Stmt:
    if not isinstance(stmt, eq.Fold):
        return stmt
    masks = _masks(s.update for s in stmt.scalars)
    scalars = tuple(replace(s, update=_shorter(s.update, masks) or s.update) for s in stmt.scalars)
    return replace(stmt, scalars=scalars, body=tuple(map(_statement, stmt.body)))


def _masks(roots: Iterable[eq.Expr]) -> dict[eq.Expr, frozenset[eq.Expr]]:
    """What choices tell apart: each disjunction, or the negation of a conjunction, and its parts."""
    found: dict[eq.Expr, frozenset[eq.Expr]] = {}
    for node in tree.walk(*roots):
        if isinstance(node, eq.Op) and node.name == "select":
            parts, either = conjuncts(node.args[0]), _disjuncts(node.args[0])
            if len(parts) > 1:
                found[eq.Op("not", (node.args[0],), BOOL)] = frozenset(map(negated, parts))
            elif len(either) > 1:
                found[node.args[0]] = frozenset(either)
    return found


def _shorter(update: eq.Expr, masks: dict[eq.Expr, frozenset[eq.Expr]]) -> eq.Expr | None:
    """A disjunction through the mask that says most of it."""
    either = _disjuncts(update)
    best = max((m for m, parts in masks.items() if parts <= set(either)), key=lambda m: len(masks[m]), default=None)
    if best is None:
        return None
    out = best
    for part in either:
        if part not in masks[best]:
            out = eq.Op("or", (out, part), BOOL)
    return out


def _disjuncts(node: eq.Expr) -> tuple[eq.Expr, ...]:
    if isinstance(node, eq.Op) and node.name == "or" and node.type.kind == "bool":
        return tuple(dict.fromkeys(p for a in node.args for p in _disjuncts(a)))
    return (node,)


__all__ = ["shared"]
