"""Folding of constant Kernel IR expressions."""

from __future__ import annotations

from typing import Any

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c import numbers
from kraise.ir.kernel import Cast, Const, Op
from kraise.ir.types import BOOL

_SYMBOLS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "tdiv": "/",
    "tmod": "%",
    "shl": "<<",
    "shr": ">>",
    "and_": "&",
    "or_": "|",
    "xor": "^",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}
_MATH = ("sqrt", "exp", "log", "sin", "cos", "tan", "floor", "ceil", "atan", "asin", "acos", "log2", "exp2")


class OpenWidth(Refused):
    """The width of a shuffle is a parameter, which may be a constant where the function is called."""


def fold(e: Any) -> Const | None:
    """The constant that ``e`` is, or None."""
    try:
        return _fold(e)
    except Exception:  # no value: division by zero, overflow
        return None


def _fold(e: Any) -> Const | None:
    match e:
        case Const():
            return e
        case Cast(t, arg):
            c = fold(arg)
            return numbers.convert(c, t) if c is not None else None
        case Op(name, args, t):
            values = [fold(a) for a in args]
            if name == "select":
                if values[0] is None:
                    return None
                return values[1] if values[0].value else values[2]
            if name in ("and", "or") and any(v is not None and bool(v.value) is (name == "or") for v in values):
                return Const(name == "or", BOOL)
            if any(v is None for v in values):
                return None
            known: list[Const] = values  # type: ignore[assignment]
            if name in _SYMBOLS and len(known) == 2:
                c = numbers.fold(_SYMBOLS[name], *known)
                return Const(bool(c.value), BOOL) if t == BOOL else numbers.convert(c, t)
            if name in ("and", "or"):
                a, b = bool(known[0].value), bool(known[1].value)
                return Const((a and b) if name == "and" else (a or b), BOOL)
            if name == "not":
                return Const(not known[0].value, BOOL)
            if name == "neg":
                return numbers.wrap(-known[0].value, t)  # type: ignore[operator,arg-type]
            if name == "invert":
                return numbers.wrap(~int(known[0].value), t)  # type: ignore[arg-type]
            if name in ("min", "max"):
                x, y = known[0].value, known[1].value
                return Const(min(x, y) if name == "min" else max(x, y), t)  # type: ignore[type-var]
            if name in _MATH:
                import math

                return Const(getattr(math, name)(float(known[0].value)), t)  # type: ignore[arg-type]
    return None
