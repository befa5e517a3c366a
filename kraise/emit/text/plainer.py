"""Conditions and choices as one would write them: of equal values and derivatives, and shorter to read.

Only the text needs this: the proofs know the source's own conditions.
"""

from __future__ import annotations

from kraise.ir import equations as eq
from kraise.ir.types import INT, ScalarType

_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_DUAL = {"and": "or", "or": "and"}


def plainer(node: eq.Expr) -> eq.Expr:
    """``node``, whose parts are plain already, or what says the same more plainly."""
    match node:
        case eq.Op(name="select", args=(eq.Op(name="not", args=(c,)), a, b), type=kind):
            return plainer(eq.Op("select", (c, b, a), kind))
        case eq.Op(name="select", args=(eq.Op(name=test, args=(x, y)), a, b), type=kind) if kind.is_integer:
            # of floats, a NaN and the derivative of two equal numbers would tell them apart
            alike = all(e.type in (kind, INT) for e in (x, y))
            if test in ("lt", "le", "gt", "ge") and {x, y} == {a, b} and x is not y and alike:
                return eq.Op("min" if (a is x) == (test in ("lt", "le")) else "max", (x, y), kind)
        case eq.Op(name="ne", args=(eq.Index(), eq.Index()) as pair, type=kind):
            return eq.Op("not", (eq.Op("eq", pair, kind),), kind)  # one mask serves both ways
        case eq.Op(name="lt", args=(eq.Const(value=0) as zero, eq.Op(name="min", args=(x, eq.Const(value=n)))), type=t):
            if x.type.is_integer and n > 0:  # type: ignore[operator]
                return eq.Op("gt", (x, zero), t)
        case eq.Op(name="not", args=(eq.Op(name="and" | "or") as inner,)):
            return _opposite(inner) or node
        case eq.Op(name=test, args=(eq.Cast() as x, eq.Cast() as y), type=kind) if test in _COMPARISONS:
            if x.type == y.type and x.arg.type == y.arg.type and _holds(x.type, x.arg.type):
                return eq.Op(test, (x.arg, y.arg), kind)
    return node


def _opposite(node: eq.Expr) -> eq.Expr | None:
    """``not node`` where that takes "not" and ``!=`` away: what is negated twice. Another condition may be a mask that
    serves both ways."""
    match node:
        case eq.Op(name="and" | "or" as name, args=args, type=kind) if kind.kind == "bool":
            parts = [_opposite(a) for a in args]
            done = tuple(p for p in parts if p is not None)
            return eq.Op(_DUAL[name], done, kind) if len(done) == len(parts) else None
        case eq.Op(name="not", args=(inner,)) if inner.type.kind == "bool":
            return inner
        case eq.Op(name="ne", args=(x, y) as pair, type=kind) if x.type.kind != "bool" and y.type.kind != "bool":
            return eq.Op("eq", pair, kind)
    return None


def _holds(wide: ScalarType, narrow: ScalarType) -> bool:
    """Whether every integer of the type ``narrow`` is one of ``wide``."""
    if not (wide.is_integer and narrow.is_integer) or wide.bits is None or narrow.bits is None:
        return False
    return wide.bits > narrow.bits and (wide.kind == "int" or narrow.kind == "uint")


__all__ = ["plainer"]
