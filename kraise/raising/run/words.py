"""A part of a word that several narrower values make up (``(a | b << 16) >> 16``, cut off to 16 bits) is that value."""

from __future__ import annotations

from kraise.ir.equations import Cast, Const, Expr, Op
from kraise.ir.types import ScalarType


def part(arg: Expr, t: ScalarType) -> Expr | None:
    """The value of type ``t`` that the conversion of ``arg`` cuts out of a word; None where that is not plain.

    Every other value of the word must lie in bits that are cut off, whatever it is: each is of an unsigned type, whose
    width says where it ends. With a sign it is the same bits.
    """
    bits, at = t.bits, 0
    if t.kind == "int" and bits is not None and (same := part(arg, ScalarType("uint", bits))) is not None:
        inner = same.arg if isinstance(same, Cast) and same.arg.type == t else None
        return inner or Cast(t, same)
    arg = _bare(arg)
    if t.kind != "uint" or bits is None or not arg.type.is_integer:
        return None
    if isinstance(arg, Op) and arg.name == "shr" and isinstance(by := arg.args[1], Const) and type(by.value) is int:
        arg, at = _bare(arg.args[0]), by.value
    width = arg.type.bits or 0
    if not (isinstance(arg, Op) and arg.name == "or_"):
        return None
    found: Expr | None = None
    pending: list[Expr] = [arg]
    while pending:
        e = pending.pop()
        if isinstance(e, Op) and e.name == "or_" and e.type.bits == width:
            pending += map(_bare, e.args)
            continue
        start = 0
        if isinstance(e, Op) and e.name == "shl" and isinstance(by := e.args[1], Const) and type(by.value) is int:
            e, start = _bare(e.args[0]), by.value
        if not (isinstance(e, Cast) and e.arg.type.kind == "uint" and e.arg.type.bits is not None) or start < 0:
            return None
        end = start + e.arg.type.bits
        if start == at and e.arg.type == t and found is None and end <= width:
            found = e.arg
        elif start < at + bits and at < end:
            return None
    return found


def _bare(e: Expr) -> Expr:
    """``e`` without conversions between integers of one width, which keep the bits."""
    while isinstance(e, Cast) and e.type.is_integer and e.arg.type.is_integer and e.type.bits == e.arg.type.bits:
        e = e.arg
    return e


__all__ = ["part"]
