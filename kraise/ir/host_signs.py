"""What static integers of a host function are at least: an unsigned one of Python's that may be below 0 left its range.

Sizes are taken not to be negative, so most unsigned numbers (``(n + 255) / 256``) are the same over Python's integers.
``n - 500`` is not: C's wraps around, and what divides, compares, shifts or converts it reads what it wrapped to.
"""

from __future__ import annotations

from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import ScalarType


def lower(e: h.Expr, divisor: h.Expr | None = None) -> int | None:
    """A lower bound of an integer expression over Python's integers, None where none is known.

    Variables are taken for sizes. ``divisor`` is what the expression is divided by: one at least (``(n + t - 1) / t``).
    """

    def low(e: h.Expr) -> int | None:
        return lower(e, divisor)

    if divisor is not None and not isinstance(e, k.Const) and e == divisor:
        return 1
    match e:
        case k.Const(value=int() as value):
            return value
        case k.Var() | k.Shape():
            return 0
        case h.Library(static=True):
            return 0
        case k.Cast(arg=arg):
            return low(arg)
        case k.Op(name="sub", args=(a, k.Const(value=int() as value))):
            found = low(a)
            return None if found is None else found - value
        case k.Op(name="select", args=(_, a, b)):
            return _least((low(a), low(b)))
        case k.Op(name="and_", args=args):
            return 0 if any((low(a) or 0) >= 0 and low(a) is not None for a in args) else None
        case k.Op(name="ceil" | "floor" | "round" | "abs", args=(a,)):
            return 0 if e.name == "abs" else low(a)
        case k.Op(name=name, args=args):
            bounds = tuple(low(a) for a in args)
            if name == "max":
                return max((b for b in bounds if b is not None), default=None)
            if name in ("add", "min"):
                least = _least(bounds)
                return least if least is None or name == "min" else sum(b for b in bounds if b is not None)
            if name in _SETTLED and is_unsigned(e.type):
                return 0
            least = _least(bounds)
            if name in _KEEPING and least is not None and least >= 0:
                return 0
    return None


# what reads its unsigned operands in their range and stays in it
_SETTLED = ("tdiv", "tmod", "floordiv", "mod", "shr", "and_", "or_", "xor")
_KEEPING = ("mul", "div", "tdiv", "tmod", "floordiv", "mod", "shl", "shr", "or_", "xor", "sqrt")


def _least(bounds: tuple[int | None, ...]) -> int | None:
    return None if None in bounds else min(b for b in bounds if b is not None)


def is_unsigned(t: ScalarType) -> bool:
    """Is a type one of those in which hosts compute unsigned numbers?"""
    return t.kind == "uint" and (t.bits or 0) >= 32


def wraps(e: h.Expr, divisor: h.Expr | None = None) -> bool:
    """Is an unsigned number another one than Python's, for sizes from 1 on?"""
    if not isinstance(e, k.Cast | k.Op) or not is_unsigned(e.type):
        return False
    bound = lower(e, divisor)
    return bound is None or bound < -1


__all__ = ["is_unsigned", "lower", "wraps"]
