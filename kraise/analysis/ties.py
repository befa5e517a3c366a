"""What ties an unknown number to the operands of an operation that is not affine, in isl's syntax."""

from __future__ import annotations

from collections.abc import Callable

from kraise.analysis.conditions import classify, negate
from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import topological

SYMBOL = {"ge": ">=", "eq": "=", "ne": "!="}


def ties(atom: eq.Expr, v: str, text: Callable[[eq.Expr], str | None]) -> str | None:
    """What ties ``v`` to the operands of a minimum, maximum, choice or remainder that it stands for, in isl's syntax.

    A remainder is exact for operands from -m to before 2 m, and between 0 and m elsewhere; a choice that data make is
    one of two (see :func:`exact`). None for other operations.
    """
    match atom:
        case eq.Cast(type=t, arg=a) if t.is_integer and (t.bits or 0) >= 32 and a.type.kind == "int":
            x = text(a)  # an index fits its type; a negative number is a large one where that is unsigned
            if x is None or t.kind == "int":
                return None if x is None else f"{v} = {x}"
            return f"({x} >= 0 and {v} = {x}) or {x} < 0"
        case eq.Cast(type=t, arg=a) if t.is_integer and (t.bits or 32) >= 32 and _of_the_launch(a):
            x = text(a)
            return None if x is None else f"{v} = {x}"
        case eq.Op(name="min" | "max" as name, args=(a, b)):
            x, y = text(a), text(b)
            return None if x is None or y is None else f"{v} = {name}({x}, {y})"
        case eq.Op(name="select", args=(c, a, b)):
            fact, other = classify(c), classify(negate(c))
            x, y = text(to_expr(to_poly(a))), text(to_expr(to_poly(b)))
            if x is None or y is None:
                return None
            if fact is None or other is None:
                return f"{v} = {x} or {v} = {y}"  # what data decide
            yes, no = text(to_expr(fact.poly)), text(to_expr(other.poly))
            if yes is None or no is None:
                return f"{v} = {x} or {v} = {y}"
            return f"({yes} {SYMBOL[fact.kind]} 0 and {v} = {x}) or ({no} {SYMBOL[other.kind]} 0 and {v} = {y})"
        case eq.Op(name="mod" | "tmod" as name, args=(a, b)):
            x, m = text(a), text(b)
            if x is None or m is None:
                return None
            near = f"(0 <= {x} < {m} and {v} = {x}) or ({m} <= {x} < 2*({m}) and {v} = {x} - ({m}))"
            far = f"({x} >= 2*({m}) and 0 <= {v} < {m}) or {m} <= 0"
            if name == "mod":
                below = f"(-({m}) <= {x} < 0 and {v} = {x} + ({m})) or ({x} < -({m}) and 0 <= {v} < {m})"
            else:
                below = f"(-({m}) < {x} < 0 and {v} = {x}) or ({x} <= -({m}) and -({m}) < {v} <= 0)"
            return f"{near} or {below} or {far}"
    return None


def _of_the_launch(a: eq.Expr) -> bool:
    """Whether ``a`` is a size of the launch, halved or not: far from the end of its type, signed or not."""
    while isinstance(a, eq.Op) and a.name in ("shr", "tdiv", "floordiv"):
        a = a.args[0]
    return isinstance(a, eq.Param) and a.type == INT and "." in a.name


def exact(atom: eq.Expr, text: Callable[[eq.Expr], str | None]) -> bool:
    """Whether :func:`ties` says all that there is to say of ``atom``."""
    match atom:
        case eq.Op(name="min" | "max"):
            return True
        case eq.Op(name="select", args=(c, _, _)):
            facts = classify(c), classify(negate(c))
            return all(f is not None and text(to_expr(f.poly)) is not None for f in facts)
    return False


def same_for_both(atom: eq.Expr, rename: dict[str, str]) -> bool:
    """Whether ``atom`` is computed of arguments and of what two instances share (``n >> round``, ``int(z / h)``): one
    unknown number for both, whatever it is."""
    shared = getattr(rename, "shared", None)
    if shared is None or not isinstance(atom, eq.Op | eq.Cast):
        return False
    known = eq.Op | eq.Cast | eq.Const | eq.Param | eq.Shape
    return all(x.name in shared if isinstance(x, eq.Index) else isinstance(x, known) for x in topological((atom,)))
