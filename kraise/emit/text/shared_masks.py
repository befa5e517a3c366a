"""``a | b | c`` as ``either | c`` where a round has ``either = a | b`` as a mask, or ``~both | c`` with ``~a & ~b``.

Lanes that leave a loop at one of two exits are masked at the second one, and have left after either: what the mask is
made of, XLA would make once more (the cosine of a Newton step, a third time).

Where a branch in a branch has a value of which an operand is made safe, the lanes of that value choose it:
``where(a, x, where(b, y, z))`` is ``where(a, x, where(both, z, y))`` with the mask ``both = ~a & ~b`` that ``z`` has
inside. XLA's code for the CPU then computes the two from one mask (an option's price: 0.6 of the time).

Integers that a round compares in both ways, ``mid <= q`` and ``mid > q``, are compared in one (a search: 0.87 of the
time).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kraise.emit import tree
from kraise.emit.loads.masks import conjuncts, negated
from kraise.ir import equations as eq
from kraise.ir.types import BOOL


def shared(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such conditions in what its loops carry, and such choices in what it stores."""
    return replace(kernel, body=tuple(map(_statement, kernel.body)))


def _statement(stmt: eq.Stmt) -> eq.Stmt:
    if isinstance(stmt, eq.Write):
        value = _chosen(stmt.value)
        return stmt if value is stmt.value else replace(stmt, value=value)
    if not isinstance(stmt, eq.Fold):
        return stmt
    masks = _masks(s.update for s in stmt.scalars)
    scalars = tuple(replace(s, update=_shorter(s.update, masks) or s.update) for s in stmt.scalars)
    other_way, memo = _other_way(s.update for s in scalars), {}  # type: ignore[var-annotated]
    if other_way:
        scalars = tuple(replace(s, update=tree.substitute(s.update, other_way, memo)) for s in scalars)
    return replace(stmt, scalars=scalars, body=tuple(map(_statement, stmt.body)))


def _other_way(roots: Iterable[eq.Expr]) -> dict[eq.Expr, eq.Expr]:
    """Comparisons of integers that a round carries or makes, as the negations of others."""
    found: dict[eq.Expr, eq.Expr] = {}
    seen: set[eq.Expr] = set()
    for node in tree.walk(*reversed(tuple(roots))):  # of two the first one stays
        if isinstance(node, eq.Op) and node.name in ("lt", "le", "gt", "ge") and node.args[0].type.is_integer:
            other = negated(node)
            if other in seen and any(isinstance(n, eq.CarryIn) for n in tree.walk(node)):
                found[node] = eq.Op("not", (other,), BOOL)
            seen.add(node)
    return found


def _chosen(value: eq.Expr) -> eq.Expr:
    """A choice within a choice by the lanes that something in it has: those of both conditions."""
    match value:
        case eq.Op(name="select", args=(_, a, b)) if any(isinstance(x, eq.Op) and x.name == "select" for x in (a, b)):
            masks: dict[frozenset[eq.Expr], eq.Expr] = {}
            for node in tree.walk(value):
                if isinstance(node, eq.Op) and node.name == "select":
                    parts = _parts(node.args[0])
                    if len(parts) > 1:
                        masks.setdefault(parts, node.args[0])
            return _by_lanes(value, frozenset(), masks) if masks else value
    return value


def _by_lanes(node: eq.Expr, known: frozenset[eq.Expr], masks: dict[frozenset[eq.Expr], eq.Expr]) -> eq.Expr:
    """The choice, where the conditions ``known`` hold."""
    if not isinstance(node, eq.Op) or node.name != "select":
        return node
    condition, a, b = node.args
    holds, fails = known | _parts(condition), known | _parts(negated(condition))
    a, b = _by_lanes(a, holds, masks), _by_lanes(b, fails, masks)
    if known and fails in masks:
        condition, a, b = masks[fails], b, a
    elif known and holds in masks:
        condition = masks[holds]
    return node if (condition, a, b) == node.args else eq.Op("select", (condition, a, b), node.type)


def _parts(condition: eq.Expr) -> frozenset[eq.Expr]:
    return frozenset(map(_plain, conjuncts(condition)))


def _plain(part: eq.Expr) -> eq.Expr:
    """``x != y`` for its negation's negation (of floats, too: either is so for a NaN)."""
    match part:
        case eq.Op(name="not", args=(eq.Op(name="eq" | "ne" as name, args=args),)):
            return eq.Op("ne" if name == "eq" else "eq", args, BOOL)
    return part


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
