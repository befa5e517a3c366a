"""Arithmetic of floating-point literals alone, where an integer or a condition comes of it.

In the emitted text it is Python's, in 64 bits (``int(0.29 * 100.0)`` is 28); the source's has the width of its type
(``(int)(0.29f * 100.0f)`` is 29, and a double of ``0.1f + 0.2f`` is not 0.3). Where that is not the same, the result is
known here; a float of it differs by rounding alone.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from functools import lru_cache

from kraise.ir.equations import Const, Expr, Op
from kraise.ir.operations import COMPARISONS
from kraise.ir.types import BOOL, ScalarType

_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
}
_WIDTHS = {16: "e", 32: "f"}


def truncated(arg: Expr, type: ScalarType) -> Const | None:
    """``arg`` as an integer where Python's arithmetic gives another one; None anywhere else."""
    both = _values(arg) if isinstance(arg, Op) else None
    if both is None or not all(abs(v) < 2**31 for v in both):
        return None
    own, pythons = map(int, both)
    fits = type.kind == "int" and (type.bits or 32) >= 32
    return Const(own, type) if own != pythons and fits else None


def widened(arg: Expr, type: ScalarType) -> Const | None:
    """``arg`` in 64 bits where Python's arithmetic, which has them all along, gives another number."""
    both = _values(arg) if arg.type.bits == 32 and type.kind == "float" and type.bits == 64 else None
    return Const(both[0], type) if both is not None and both[0] != both[1] else None


def compared(name: str, a: Expr, b: Expr) -> Const | None:
    """The comparison where Python's arithmetic gives another answer; None anywhere else."""
    if not (isinstance(a, Op) or isinstance(b, Op)):
        return None
    first, second = _values(a), _values(b)
    if first is None or second is None:
        return None
    own, pythons = (bool(COMPARISONS[name](x, y)) for x, y in zip(first, second, strict=True))
    return Const(own, BOOL) if own is not pythons else None


@lru_cache(maxsize=1 << 12)  # squares of squares share their parts
def _values(e: Expr) -> tuple[float, float] | None:
    """What literals alone come to, in the width of the type and in Python's; None where there is more."""
    width = _WIDTHS.get(e.type.bits or 0) if e.type.kind == "float" else None
    if width is None:
        return None
    match e:
        case Const(value=int() | float() as value):
            return _rounded(float(value), width)
        case Op(name="neg", args=(a,)) if (one := _values(a)) is not None:
            return -one[0], -one[1]
        case Op(name=name, args=(a, b)) if name in _ARITHMETIC and a.type == b.type == e.type:
            one = _values(a)
            two = _values(b) if one is not None else None
            if one is None or two is None or (name == "div" and not (two[0] and two[1])):
                return None
            # 64 bits hold more than twice the digits: rounded twice is rounded once
            found = _rounded(_ARITHMETIC[name](one[0], two[0]), width)
            return None if found is None else (found[0], _ARITHMETIC[name](one[1], two[1]))
    return None


def _rounded(value: float, width: str) -> tuple[float, float] | None:
    """``value`` in the width, and as it is; None where it is no finite number of that width."""
    try:
        own: float = struct.unpack(width, struct.pack(width, value))[0]
    except OverflowError:
        return None
    return (own, value) if math.isfinite(own) else None


__all__ = ["compared", "truncated", "widened"]
