"""Values that are the same but for the order of operands, or the sign: ``a - b`` and ``b - a``, ``2 * a * b`` and
``2 * b * a``.

What a cell computes with the one before it, its neighbour computes with the one behind it. Differences and products
have the same magnitude either way (a product of several factors but for its last digit).
"""

from __future__ import annotations

from kraise.ir import equations as eq
from kraise.ir.order import by_text
from kraise.ir.walk import transform

_SORTED = ("add", "mul", "min", "max")


def ordered(node: eq.Expr) -> tuple[eq.Expr, bool]:
    """A value with its operands in one order, and whether it is the negative of that."""
    return _bare(transform(node, _one))


def numbers(e: eq.Expr) -> bool:
    """Whether a value is a float, or of an open type (of integers, too, a difference turned round is its negative)."""
    return e.type.is_inexact or e.type.kind == "number"


def _bare(e: eq.Expr) -> tuple[eq.Expr, bool]:
    return (e.args[0], True) if isinstance(e, eq.Op) and e.name == "neg" else (e, False)


def _one(e: eq.Expr) -> eq.Expr:
    if not isinstance(e, eq.Op) or not numbers(e):
        return e
    match e:
        case eq.Op(name="neg", args=(a,)):
            inner, negative = _bare(a)
            return inner if negative else e
        case eq.Op(name="abs", args=(a,)) if e.type.is_inexact:  # of numbers without a sign it differs
            return eq.Op("abs", (_bare(a)[0],), e.type)
        case eq.Op(name="sub", args=(a, b)) if by_text(b) < by_text(a):
            return eq.Op("neg", (eq.Op("sub", (b, a), e.type),), e.type)
        case eq.Op(name="mul" | "div" as name, args=(a, b)):
            (x, one), (y, other) = _bare(a), _bare(b)
            whole = _sorted(name, (x, y), e)
            return eq.Op("neg", (whole,), e.type) if one != other else whole
        case eq.Op(name=name, args=args) if name in _SORTED:
            return _sorted(name, args, e)
    return e


def _sorted(name: str, args: tuple[eq.Expr, ...], like: eq.Op) -> eq.Expr:
    """An operation whose operands may change places, of a product all factors."""
    if name not in _SORTED:
        return eq.Op(name, args, like.type)
    parts: list[eq.Expr] = []
    stack = list(args)
    while stack:
        top = stack.pop()
        if name == "mul" and isinstance(top, eq.Op) and top.name == "mul" and top.type == like.type:
            stack += top.args
        else:
            parts.append(top)
    first, *others = sorted(parts, key=by_text)
    for other in others:
        first = eq.Op(name, (first, other), like.type)
    return first


__all__ = ["numbers", "ordered"]
