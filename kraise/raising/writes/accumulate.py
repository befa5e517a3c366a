"""Recognising ``cell = cell op e`` in an updated value, whatever selects and orders of operands lie between.

:func:`contribution` answers how a value ``u`` comes from ``c``: the operator, what is combined with it and where. It is
used for scalars carried by a loop (``c`` is the value on entry) and for cells of an array (``c`` is the read of the
cell).
"""

from __future__ import annotations

from dataclasses import dataclass

from kraise.analysis.conditions import both
from kraise.ir import equations as eq
from kraise.ir.open_types import is_open, like
from kraise.ir.operations import ASSOCIATIVE
from kraise.ir.types import BOOL, FLOAT, INT, ScalarType
from kraise.ir.walk import children, topological
from kraise.raising.run import simplify


@dataclass(frozen=True)
class Contribution:
    """``u = c op value`` where ``where`` holds (None: always), ``u = c`` elsewhere. ``op`` "" says that u is c."""

    op: str
    value: eq.Expr | None = None
    where: eq.Expr | None = None


UNCHANGED = Contribution("")


def holds(expr: eq.Expr, node: eq.Expr) -> bool:
    """Whether ``node`` occurs in ``expr``."""
    return node is expr or any(n is node for n in topological((expr,)))


def contribution(u: eq.Expr, c: eq.Expr, kind: ScalarType | None = None) -> Contribution | None:
    """How ``u`` comes from ``c`` by one associative operator, or None if it does not.

    ``kind``: what ``c`` begins with, a number of Python's. Several terms of one sum are each of that type before they
    meet: bytes that a float counts do not wrap, and two booleans are not one.
    """
    if u is c:
        return UNCHANGED
    match u:
        case eq.Op(name="select", args=(condition, a, b)):
            return _select(condition, a, b, c, u, kind)
        case eq.Op(name="sub", args=(a, b)) if holds(a, c) and not holds(b, c):
            return _append(contribution(a, c, kind), "add", _minus(b, kind), u, kind)
        case eq.Op(name=name, args=(a, b)) if name in ASSOCIATIVE:
            if holds(a, c) and not holds(b, c):
                return _append(contribution(a, c, kind), name, b, u, kind)
            if holds(b, c) and not holds(a, c):
                return _append(contribution(b, c, kind), name, a, u, kind)
    return None


def _minus(e: eq.Expr, kind: ScalarType | None) -> eq.Expr:
    if e.type.kind == "bool":
        e = eq.Cast(INT, e)
    elif kind == FLOAT and is_open(e):
        return eq.Op("mul", (eq.Const(-1.0, FLOAT), e), e.type)  # of what has no sign, too
    return eq.Op("neg", (e,), e.type)


def _is_less(e: eq.Expr) -> bool:
    """Whether it is what :func:`_minus` makes of open values."""
    return isinstance(e, eq.Op) and e.name == "mul" and e.args[0] == eq.Const(-1.0, FLOAT) and is_open(e.args[1])


def _append(
    inner: Contribution | None, op: str, e: eq.Expr, u: eq.Expr, kind: ScalarType | None
) -> Contribution | None:
    """``(c op inner) op e``."""
    if inner is None or inner.op not in ("", op):
        return None
    if inner.op == "":
        return Contribution(op, e)
    value = inner.value
    assert value is not None
    if op == "add" and (is_open(e) or _is_less(e) or "bool" in (value.type.kind, e.type.kind)):
        value = like(kind, value)
    if inner.where is None:
        return Contribution(op, _combine(op, value, e), None)
    neutral = neutral_of(op, u)
    if neutral is None:
        return None
    masked = simplify.select(inner.where, value, neutral, value.type)
    return Contribution(op, _combine(op, masked, e), None)


def _combine(op: str, a: eq.Expr, b: eq.Expr) -> eq.Expr:
    match b:
        case eq.Op(name="neg", args=(e,)) if op == "add":
            return simplify.op("sub", (a, e), a.type)
        case eq.Op(args=(_, e)) if op == "add" and _is_less(b) and not is_open(a):
            return simplify.op("sub", (a, e), a.type)
    return simplify.op(op, (a, b), a.type)


def neutral_of(op: str, like: eq.Expr) -> eq.Expr | None:
    """The neutral element of add, mul, and, or, of bits, too; None of min, max and of ``and_`` where the width is open
    (their masks stay conditions)."""
    if op in ("and", "or"):
        return eq.Const(op == "and", BOOL)
    value = {"add": 0, "mul": 1, "or_": 0, "xor": 0}.get(op)
    if op == "and_" and like.type.is_integer and like.type.bits:
        value = (1 << like.type.bits) - 1 if like.type.kind == "uint" else -1
    if value is None:
        return None
    if like.type.is_inexact:
        return eq.Const(float(value), like.type)
    return eq.Const(value, like.type)


def _select(
    condition: eq.Expr, a: eq.Expr, b: eq.Expr, c: eq.Expr, u: eq.Expr, kind: ScalarType | None
) -> Contribution | None:
    if holds(condition, c):
        return _extremum(condition, a, b, c)
    first, second = contribution(a, c, kind), contribution(b, c, kind)
    if first is None or second is None:
        return None
    negated = simplify.negation(condition)
    if second.op == "":
        return Contribution(first.op, first.value, both(condition, first.where))
    if first.op == "":
        return Contribution(second.op, second.value, both(negated, second.where))
    if first.op != second.op:
        return None
    value = simplify.select(condition, first.value, second.value, first.value.type)  # type: ignore[arg-type, union-attr]
    if first.where is None and second.where is None:
        return Contribution(first.op, value)
    where = simplify.disjunction(
        simplify.conjunction(condition, first.where), simplify.conjunction(negated, second.where)
    )
    return Contribution(first.op, value, where)


@dataclass(frozen=True)
class Replacement:
    """``if e < c: c = e``: ``op`` min or max, ``strict`` whether an equal e leaves c, ``where`` what else must hold."""

    op: str
    value: eq.Expr
    strict: bool
    where: eq.Expr | None


def replacement(condition: eq.Expr, c: eq.Expr, e: eq.Expr | None = None) -> Replacement | None:
    """Reads ``condition`` as a comparison of some ``e`` with ``c`` (and perhaps more that must hold)."""
    match condition:
        case eq.Op(name="and", args=(a, b)):
            for part, other in ((a, b), (b, a)):
                if not holds(other, c):
                    found = replacement(part, c, e)
                    if found is not None:
                        return Replacement(found.op, found.value, found.strict, both(other, found.where))
        case eq.Op(name="lt" | "le" | "gt" | "ge" as name, args=(a, b)):
            if b is c and not holds(a, c):
                less, v = name in ("lt", "le"), a
            elif a is c and not holds(b, c):
                less, v = name in ("gt", "ge"), b
            else:
                return None
            if e is None or v is e:
                return Replacement("min" if less else "max", v, name in ("lt", "gt"), None)
        case eq.Op(name="not", args=(eq.Op(name="lt" | "le" | "gt" | "ge" as name, args=(a, b)),)):
            turned = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}[name]
            return replacement(eq.Op(turned, (a, b), BOOL), c, e)
    return None


def _extremum(condition: eq.Expr, a: eq.Expr, b: eq.Expr, c: eq.Expr) -> Contribution | None:
    """``e if e < c else c`` and its three siblings."""
    for taken, kept, test in ((a, b, condition), (b, a, simplify.negation(condition))):
        if kept is c and not holds(taken, c):
            found = replacement(test, c, taken)
            if found is not None:
                return Contribution(found.op, taken, found.where)
    return None


def mentions(expr: eq.Expr, kinds: type | tuple[type, ...]) -> bool:
    """Whether a node of one of these kinds occurs in ``expr``."""
    return any(isinstance(n, kinds) for n in topological((expr,)))


__all__ = [
    "UNCHANGED",
    "Contribution",
    "Replacement",
    "children",
    "contribution",
    "holds",
    "mentions",
    "neutral_of",
    "replacement",
]
