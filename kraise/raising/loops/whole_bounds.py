"""Bounds of loops that are whole numbers in floating point, as integers (Kernel IR to Kernel IR).

``for (i = 1; i <= log2f(16); i++)`` is ``i <= 4``, and ``int(math.log2(8))`` is 3: the logarithm of a power of two is
exact, and a whole number of less than 24 bits is what it is in any floating type. ``int(A.shape[1] / 16)`` of Python is
``A.shape[1] // 16``, and ``threadIdx.x < blockDim.x / 32.f`` is ``threadIdx.x * 32 < blockDim.x``.
"""

from __future__ import annotations

from typing import Any

from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten
from kraise.ir.types import INT

_COMPARED = ("lt", "le", "gt", "ge", "eq", "ne")
_MOST = 1 << 24


def with_whole_bounds(body: tuple[k.Stmt, ...]) -> tuple[k.Stmt, ...]:
    """``body`` with such comparisons in the conditions of loops, such logarithms and quotients; the same object if
    there are none."""

    def visit(x: Any) -> k.Stmt | k.Expr | None:
        match x:
            case k.Cast(type=t, arg=k.Op(name="log2") as e) if t.is_integer:
                return _integer(e)
            case k.Cast(type=t, arg=k.Op(name="div") as e) if t.is_integer:
                return _quotient(e, "tdiv")
            case k.Cast(type=t, arg=k.Op(name="floor", args=(k.Op(name="div") as e,))) if t.is_integer:
                return _quotient(e, "floordiv")
            case k.Cast(type=t, arg=k.Op(name="ceil", args=(k.Op(name="div") as e,))) if t.is_integer:
                return _quotient(e, "ceil")
            case k.While(condition=k.Op(name=name, args=(a, b)) as c) if name in _COMPARED:
                one, two = _integer(a), _integer(b)
                if one is None or two is None or isinstance(one, k.Const) is isinstance(two, k.Const):
                    return None
                condition = k.Op(name, (one, two), c.type, span=c.span)
                return k.While(condition, rewritten(x.body, visit), x.test_last, x.orelse, span=x.span)
            case k.Op(name="lt" | "le" | "gt" | "ge" as name, args=args) if (sides := _of_a_block(*args)) is not None:
                return k.Op(name, sides, x.type, span=x.span)
        return None

    return rewritten(body, visit)  # type: ignore[no-any-return]


def _of_a_block(a: k.Expr, b: k.Expr) -> tuple[k.Expr, k.Expr] | None:
    """The sides of a comparison of a whole number with a part of a block's threads, as integers: there are 1024 at
    most, so that a power of two divides them without rounding, and rounding moves no whole number past the quotient."""
    match a, b:
        case _, k.Op(name="div", args=(k.Cast(arg=k.Hw("blockDim") as block) | (k.Hw("blockDim") as block), by)):
            number, whole = _integer(by), a.arg if isinstance(a, k.Cast) and a.type.kind == "float" else a
            if not whole.type.is_integer or not isinstance(number, k.Const) or number.value not in _POWERS:
                return None
            return k.Op("mul", (whole, number), INT, span=a.span), block
        case k.Op(name="div", args=(k.Cast(arg=k.Hw("blockDim")) | k.Hw("blockDim"), _)), _:
            sides = _of_a_block(b, a)
            return None if sides is None else sides[::-1]
    return None


_POWERS = tuple(1 << n for n in range(11))


def _quotient(e: k.Op, rounding: str) -> k.Expr | None:
    """The quotient of two whole numbers as integer arithmetic: in 64 bits a size divided by another is never rounded
    to the next whole number."""
    if e.type.kind != "float" or e.type.bits not in (None, 64):
        return None
    size, by = e.args
    if not all(isinstance(x, k.Shape | k.Const) and x.type.is_integer for x in (size, by)):
        return None
    if rounding == "ceil":
        if not isinstance(by, k.Const) or not isinstance(by.value, int) or by.value < 1:
            return None
        size, rounding = k.Op("add", (size, k.Const(by.value - 1, INT)), INT, span=e.span), "floordiv"
    return k.Op(rounding, (size, by), INT, span=e.span)


def _integer(e: k.Expr) -> k.Expr | None:
    """The integer that a floating number holds: a cast one, or a whole constant (of which one side must be)."""
    match e:
        case k.Cast(type=t, arg=k.Var() as v) if t.kind == "float" and v.type.is_integer:
            return v
        case k.Cast(arg=a) if e.type.kind == "float":
            return _integer(a)
        case k.Const(value=float() | int() as v) if type(v) is not bool and v == int(v) and abs(v) < _MOST:
            return k.Const(int(v), INT)
        case k.Op(name="log2", args=(a,)):
            size = _integer(a)
            if isinstance(size, k.Const) and isinstance(size.value, int):
                whole = size.value > 0 and size.value & (size.value - 1) == 0
                return k.Const(size.value.bit_length() - 1, INT) if whole else None
    return None


__all__ = ["with_whole_bounds"]
