"""Literals without a suffix, where an integer or a condition comes of them.

They are computed as floats where no double takes part in a function, which changes a float by its rounding alone. Of
``(int)(0.29 * 100)`` it changes the number, and of ``k < (int)(T / DT)`` the rounds of a loop: what literals alone come
to there is known, in the width that C gives it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from kraise.diagnostics import Span
from kraise.frontends.cuda_c.constants import fold
from kraise.ir.kernel import Cast, Const, Expr, Op
from kraise.ir.types import FLOAT32, FLOAT64

Doubles = Collection[tuple[object, Span | None]]  # the value and the place of each literal that C reads as a double


def in_doubles(e: Expr, doubles: Doubles) -> Const | None:
    """What ``e`` comes to as C computes it, if it is made of literals alone and some of them are doubles."""
    if not isinstance(e, Const | Op | Cast) or not doubles:
        return None
    wide = _widened(e, doubles)
    return fold(wide) if wide is not None and wide is not e else None


def _widened(e: Expr, doubles: Doubles) -> Expr | None:
    """The expression with C's types; None where it is not made of literals alone."""
    match e:
        case Const(value=value, type=t, span=span):
            return replace(e, type=FLOAT64) if t == FLOAT32 and (value, span) in doubles else e
        case Cast(type=t, arg=arg):
            inner = _widened(arg, doubles)
            return inner if inner is None or inner is arg else Cast(t, inner, span=e.span)
        case Op(name=name, args=args, type=t):
            found = [_widened(a, doubles) for a in args]
            parts = [x for x in found if x is not None]
            if len(parts) < len(args):
                return None
            if all(x is a for x, a in zip(parts, args, strict=True)):
                return e
            if any(x.type == FLOAT64 for x in parts):
                parts = [Cast(FLOAT64, x) if x.type == FLOAT32 else x for x in parts]
            return Op(name, tuple(parts), FLOAT64 if t == FLOAT32 else t, span=e.span)
    return None


__all__ = ["Doubles", "in_doubles"]
