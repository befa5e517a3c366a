"""Which integers of a host function wrap around or leave the range of their type, where Python's own do not."""

from __future__ import annotations

from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import ScalarType

ARITHMETIC = ("add", "sub", "mul", "neg", "shl", "and_", "or_", "xor", "invert")
MODULAR = frozenset((*ARITHMETIC, "select", "and", "or", "not"))  # whose operands may be outside of their range


def wraps(t: ScalarType) -> bool:
    """Does a number of this type wrap around where JAX's default integers do not?"""
    return t.bits is not None and (t.kind == "uint" or (t.kind == "int" and t.bits < 32))


def is_unsigned(t: ScalarType) -> bool:
    return t.kind == "uint" and (t.bits or 0) >= 32


def leaves_range(e: h.Expr) -> bool:
    """May an unsigned number of Python's be outside of its type's range? Sizes are not; differences and what hashes
    are."""
    if not isinstance(e, k.Op | k.Cast) or not is_unsigned(e.type) or is_count(e):
        return False
    if isinstance(e, k.Cast):
        return not e.arg.type.is_inexact and (leaves_range(e.arg) or not is_count(e.arg))  # type: ignore[union-attr]
    if e.name in ("sub", "neg", "invert"):
        return True
    if hashes(e):
        return False  # written with its remainder
    return e.name in MODULAR and any(map(leaves_range, e.args))


def hashes(e: k.Op) -> bool:
    """Does an unsigned number of Python's leave its range, unlike a size? It is narrow, or meets a large constant."""
    if e.type.kind != "uint":
        return False
    if (e.type.bits or 64) < 32:
        return e.name in ARITHMETIC
    if e.name == "shl":
        return not isinstance(e.args[0], k.Const) and not (isinstance(e.args[1], k.Const) and e.args[1].value.real < 16)
    return e.name in ("add", "mul") and any(isinstance(a, k.Const) and a.value.real >= 2**16 for a in e.args)


def is_count(e: h.Expr) -> bool:
    """Is a number no less than 0, where sizes are not?"""
    match e:
        case k.Const(value=int() as value):
            return value >= 0
        case k.Var() | k.Shape():
            return True
        case k.Cast(arg=arg):
            return is_count(arg)
        case k.Op(name="sub", args=(k.Op(name="add") as one, other)):  # (n + t) - 1
            return is_count(one) and isinstance(other, k.Const)
        case k.Op(name="add" | "mul" | "tdiv" | "tmod" | "floordiv" | "min" | "max" | "lshift" | "rshift", args=args):
            return all(map(is_count, args))
    return False
