"""Integers of CUDA's math API that are more than one operation: means, bytes that are picked, words of 2 or 4 numbers.

``__vadd4(a, b)`` adds the four bytes of two words, ``__byte_perm(a, b, s)`` picks four of their eight. A function of
words is written as what it does to each number of them, put together again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.arithmetic import cast, is_simple
from kraise.ir.kernel import Const, Expr, Op
from kraise.ir.types import BOOL, INT32, INT64, UINT32, UINT64, ScalarType

_COMPARED = ("eq", "ne", "lt", "le", "gt", "ge")


def _op(name: str, *args: Expr) -> Expr:
    return Op(name, args, args[0].type)


def _number(value: int) -> Expr:
    return Const(value, INT32)


def mean(low: Any, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
    """``__hadd(a, b)`` of integers, half of their sum, rounded down (with ``rounded``: half up); of halves the sum."""
    values = [low.scalar(a) for a in arguments]
    if name == "__hadd" and not all(v.type.is_integer for v in values):
        return low.binary("+", *values, low.span(node), node)
    kind, _, up = rest.partition(".")
    t, wide = (UINT32, UINT64) if kind == "uint" else (INT32, INT64)
    total = _op("add", *(cast(cast(v, t), wide) for v in values))
    total = _op("add", total, Const(1, wide)) if up else total
    return cast(_op("shr", total, Const(1, wide)), t)


def byte_perm(low: Any, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
    """``__byte_perm(x, y, s)``: byte k is that of the eight of both which the k-th four bits of ``s`` say (their last
    three)."""
    x, y, s = [cast(low.scalar(a), UINT32) for a in arguments]
    both = _op("or_", _op("shl", cast(y, UINT64), Const(32, UINT64)), cast(x, UINT64))
    both, s = low.temporary(both, "bytes", node), s if is_simple(s) else low.temporary(s, "picks", node)
    parts = []
    for at in range(4):
        pick = _op("and_", _op("shr", s, Const(4 * at, UINT32)), Const(7, UINT32))
        far = cast(_op("mul", pick, Const(8, UINT32)), UINT64)
        byte = cast(_op("and_", _op("shr", both, far), Const(255, UINT64)), UINT32)
        parts.append(_op("shl", byte, Const(8 * at, UINT32)))
    return low.temporary(_together(parts), "picked", node)


def funnel_clamped(low: Any, name: str, way: str, arguments: list[Tree], node: Tree) -> Any:
    """``__funnelshift_lc``, ``__funnelshift_rc``: two words moved by 32 bits at most."""
    x, y, s = [cast(low.scalar(a), UINT32) for a in arguments]
    both = _op("or_", _op("shl", cast(y, UINT64), Const(32, UINT64)), cast(x, UINT64))
    by = cast(_op("min", s, Const(32, UINT32)), UINT64)
    if way == "l":
        return cast(_op("shr", _op("shl", both, by), Const(32, UINT64)), UINT32)
    return cast(_op("shr", both, by), UINT32)


def lanes(low: Any, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
    """``rest`` is ``operation.kind.bits``: what is done to each number of the words, whether it has a sign."""
    operation, kind, bits_ = rest.split(".")
    bits = int(bits_)
    words = [cast(low.scalar(a), UINT32) for a in arguments]
    words = [w if is_simple(w) else low.temporary(w, "word", node) for w in words]
    mask = (1 << bits) - 1
    parts: list[Expr] = []
    total: Expr = Const(0, UINT32)
    for at in range(0, 32, bits):
        own = [_lane(w, at, bits, kind == "s") for w in words]
        result = _bounded(operation, kind, bits, _LANES[operation.removesuffix("_sat")](*own))
        if operation == "sad":
            total = _op("add", total, cast(result, UINT32))
            continue
        byte = _op("and_", cast(result, UINT32), Const(mask, UINT32))
        parts.append(_op("shl", byte, Const(at, UINT32)) if at else byte)
    return low.temporary(total if operation == "sad" else _together(parts), "word", node)


def _lane(word: Expr, at: int, bits: int, signed: bool) -> Expr:
    moved = _op("shr", word, Const(at, UINT32)) if at else word
    return cast(cast(moved, ScalarType("int" if signed else "uint", bits)), INT32)


def _bounded(operation: str, kind: str, bits: int, result: Expr) -> Expr:
    """The result, where asked for no larger and no smaller than what a number holds."""
    if not operation.endswith("_sat"):
        return result
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind == "s" else (0, (1 << bits) - 1)
    return _op("max", _op("min", result, _number(high)), _number(low))


def _compared(name: str, ones: int) -> Callable[..., Expr]:
    return lambda a, b: Op("select", (Op(name, (a, b), BOOL), _number(ones), _number(0)), INT32)


def _distance(a: Expr, b: Expr) -> Expr:
    return _op("sub", _op("max", a, b), _op("min", a, b))


def _together(parts: list[Expr]) -> Expr:
    out = parts[0]
    for part in parts[1:]:
        out = _op("or_", out, part)
    return out


_LANES: dict[str, Callable[..., Expr]] = {
    "add": lambda a, b: _op("add", a, b),
    "sub": lambda a, b: _op("sub", a, b),
    "max": lambda a, b: _op("max", a, b),
    "min": lambda a, b: _op("min", a, b),
    "neg": lambda a: _op("neg", a),
    "abs": lambda a: _op("max", a, _op("neg", a)),
    "mean": lambda a, b: _op("shr", _op("add", _op("add", a, b), _number(1)), _number(1)),
    "half": lambda a, b: _op("shr", _op("add", a, b), _number(1)),
    "distance": _distance,
    "sad": _distance,
    **{f"cmp{name}": _compared(name, -1) for name in _COMPARED},
    **{f"set{name}": _compared(name, 1) for name in _COMPARED},
}
CONCEPTS = {"mean": mean, "byte_perm": byte_perm, "funnel_clamped": funnel_clamped, "lanes": lanes}
