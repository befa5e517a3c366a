"""C literals, and constant expressions given as words (the values of numeric macros)."""

from __future__ import annotations

import math
import operator
import re
import struct
from collections.abc import Callable
from typing import Any

from kraise.ir.kernel import Const
from kraise.ir.types import FLOAT32, FLOAT64, INT32, INT64, UINT32, UINT64, ScalarType

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_FLOAT = re.compile(
    r"(?:\d[\d']*\.?[\d']*|\.\d[\d']*)(?:[eE][+-]?\d+)?[fFlLhH]*$|0[xX][0-9a-fA-F.]+[pP][+-]?\d+[fFlL]?$"
)


def literal(text: str) -> Const | None:
    """The constant that a C number stands for, typed by its suffix and size; None if it is none."""
    plain = text.replace("'", "")
    low = plain.lower()
    if low.startswith("0x") and "p" not in low:
        return _integer(low, 16, plain)
    if low.startswith("0b"):
        return _integer(low, 2, plain)
    if "." in low or "e" in low or "p" in low or (low.endswith("f") and low[:-1].isdigit()):
        body = low.rstrip("flh")
        try:
            value = float.fromhex(body) if low.startswith("0x") else float(body)
        except ValueError:
            return None
        return Const(value, FLOAT32 if low.endswith("f") else FLOAT64)
    return _integer(low, 8 if low[0] == "0" and low[1:2].isdigit() else 10, plain)


def _integer(low: str, base: int, plain: str) -> Const | None:
    body = low.rstrip("ul")
    suffix = low[len(body) :]
    try:
        value = int(body, base)
    except ValueError:
        return None
    unsigned, wide = "u" in suffix, "l" in suffix
    candidates: list[ScalarType] = []
    if not wide:
        candidates += [UINT32] if unsigned else ([INT32] if base == 10 else [INT32, UINT32])
    candidates += [UINT64] if unsigned else ([INT64] if base == 10 else [INT64, UINT64])
    for t in candidates:
        bits = (t.bits or 64) - (t.kind == "int")
        if value < 1 << bits:
            return Const(value, t)
    return Const(value, UINT64) if value < 1 << 64 else None


_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_CASTS = {
    ("float",): FLOAT32,
    ("double",): FLOAT64,
    ("int",): INT32,
    ("unsigned",): UINT32,
    ("unsigned", "int"): UINT32,
    ("long",): INT64,
    ("long", "long"): INT64,
    ("size_t",): UINT64,
}


class _Not(Exception):
    pass


def evaluate(words: list[str]) -> Const | None:
    """The value of a constant expression given as its tokens, or None if it is none."""
    try:
        value, rest = _level(words, 0)
    except (_Not, IndexError, ZeroDivisionError, OverflowError, RecursionError):
        return None
    return value if not rest else None


def _level(words: list[str], k: int) -> tuple[Const, list[str]]:
    if k == len(_LEVELS):
        return _unary(words)
    left, rest = _level(words, k + 1)
    while rest and rest[0] in _LEVELS[k]:
        symbol = rest[0]
        right, rest = _level(rest[1:], k + 1)
        left = fold(symbol, left, right)
    return left, rest


def _unary(words: list[str]) -> tuple[Const, list[str]]:
    if not words:
        raise _Not
    first = words[0]
    if first in ("-", "+", "~", "!"):
        value, rest = _unary(words[1:])
        if first == "-":
            return wrap(-value.value, value.type), rest  # type: ignore[operator,arg-type]
        if first == "~":
            if not value.type.is_integer:
                raise _Not
            return wrap(~int(value.value), value.type), rest  # type: ignore[arg-type]
        return (Const(int(not value.value), INT32) if first == "!" else value), rest
    if first == "(":
        close = words.index(")")
        cast = _CASTS.get(tuple(words[1:close]))
        if cast is not None:
            value, rest = _unary(words[close + 1 :])
            return convert(value, cast), rest
        value, rest = _level(words[1:], 0)
        if not rest or rest[0] != ")":
            raise _Not
        return value, rest[1:]
    number = literal(first) if first[0].isdigit() or first[0] == "." else None
    if number is None:
        raise _Not
    return number, words[1:]


def wrap(value: int | float, t: ScalarType) -> Const:
    """A constant of type ``t``: integers wrap at its width."""
    return Const(t.wrapped(int(value)) if t.is_integer and t.bits else value, t)


def convert(c: Const, t: ScalarType) -> Const:
    """The constant after C's conversion to ``t`` (its name is kept only where nothing changes)."""
    if c.type == t:
        return c
    if t.kind == "bool":
        return Const(bool(c.value), t)
    value = as_float32(c.value) if c.type == FLOAT32 else c.value  # type: ignore[arg-type]
    if t.is_inexact:  # 0.1f is a little more than 0.1 where a double takes part
        return Const(float(value if t == FLOAT64 else c.value), t)  # type: ignore[arg-type]
    if isinstance(c.value, float) and (c.value != c.value or abs(c.value) == float("inf")):
        raise _Not
    return wrap(int(value), t)  # type: ignore[arg-type]


def as_float32(value: float) -> float:
    """The number as a float of 32 bits holds it."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:  # beyond the largest
        return math.copysign(math.inf, value)


def common(a: ScalarType, b: ScalarType) -> ScalarType:
    """C's usual arithmetic conversions."""
    a, b = promote(a), promote(b)
    for kind in ("complex", "float", "bfloat"):
        if kind in (a.kind, b.kind):
            if a.kind == b.kind:
                return a if (a.bits or 0) >= (b.bits or 0) else b
            return a if a.kind == kind else b
    if a.kind == b.kind:
        return a if (a.bits or 0) >= (b.bits or 0) else b
    unsigned, signed = (a, b) if a.kind == "uint" else (b, a)
    return unsigned if (unsigned.bits or 0) >= (signed.bits or 0) else signed


def promote(t: ScalarType) -> ScalarType:
    """C's integer promotions."""
    return INT32 if t.kind == "bool" or (t.is_integer and (t.bits or 64) < 32) else t


def _fold_float32(symbol: str, x: float, y: float) -> Const:
    """An operation on two floats of 32 bits; the number is written as Python has it, where that is the same float."""
    table = {**_ARITHMETIC, **_COMPARISONS}
    if symbol not in table:
        raise _Not
    own, pythons = table[symbol](as_float32(x), as_float32(y)), table[symbol](x, y)
    if symbol in _COMPARISONS:
        return Const(int(own), INT32)
    own = as_float32(own)  # 64 bits hold more than twice the digits: rounded twice is rounded once
    return Const(pythons if as_float32(pythons) == own else own, FLOAT32)


def fold(symbol: str, a: Const, b: Const) -> Const:
    """The constant ``a symbol b``. Raises where C gives it no value."""
    if symbol in ("||", "&&"):
        return Const(int(bool(a.value) or bool(b.value) if symbol == "||" else bool(a.value) and bool(b.value)), INT32)
    t = promote(a.type) if symbol in ("<<", ">>") else common(a.type, b.type)
    x = convert(a, t).value
    y = b.value if symbol in ("<<", ">>") else convert(b, t).value
    if t == FLOAT32:
        return _fold_float32(symbol, x, y)  # type: ignore[arg-type]
    if symbol in _COMPARISONS:
        return Const(int(_COMPARISONS[symbol](x, y)), INT32)
    if symbol in ("+", "-", "*"):
        return wrap(_ARITHMETIC[symbol](x, y), t)
    if symbol == "/" and t.is_inexact:
        return Const(float(x) / float(y), t)  # type: ignore[arg-type]
    if not t.is_integer:
        raise _Not
    i, j = int(x), int(y)  # type: ignore[arg-type]
    if symbol in ("/", "%"):
        q = abs(i) // abs(j) * (1 if (i < 0) == (j < 0) else -1)
        return wrap(q if symbol == "/" else i - q * j, t)
    if symbol in ("<<", ">>"):
        if not 0 <= j < (t.bits or 64):
            raise _Not
        return wrap(i << j if symbol == "<<" else i >> j, t)
    return wrap({"&": i & j, "|": i | j, "^": i ^ j}[symbol], t)
