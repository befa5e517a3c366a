"""What statements write, and how control leaves them."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from kraise.frontends.cuda_c.constants import fold
from kraise.ir.kernel import (
    ArrayRef,
    Assign,
    Atomic,
    Break,
    CallStmt,
    Cast,
    Const,
    Continue,
    Expr,
    For,
    Hw,
    If,
    LocalArray,
    Op,
    Store,
    Var,
)
from kraise.ir.types import ScalarType


def same_order(bound: Expr, t: ScalarType, start: Expr, natural: Set[str] = frozenset()) -> bool:
    """Does comparing as ``t`` give what C's conversions give? ``natural`` variables are never negative."""
    if not bound.type.is_integer:
        return bound.type.kind == "bool"
    if bound.type == t or isinstance(bound, Const):
        return True
    if t.kind == "uint" or bound.type.kind == "int":
        return (bound.type.bits or 64) <= (t.bits or 64) or t.kind == bound.type.kind == "int"
    # a signed counter against an unsigned bound: the same as long as the counter is not negative
    known = fold(start)
    return (known is not None and known.value >= 0) or not_negative(start, natural)  # type: ignore[operator]


def not_negative(e: Any, natural: Set[str] = frozenset()) -> bool:
    """Whether a number is not negative, being made of the launch's, of small ones and of ``natural`` variables."""
    match e:
        case Hw():
            return True
        case Var(name=name) if name in natural:
            return True
        case Const(value=v):
            return v >= 0  # type: ignore[operator]
        case Cast(arg=Var() | Hw() as inner) if e.type.is_integer and (e.type.bits or 64) >= 32:
            return not_negative(inner, natural)
        case Op(name="add" | "mul" | "max" | "min" | "tdiv" | "and_", args=args):
            return all(not_negative(a, natural) for a in args)
    return e.type.kind == "uint" and (e.type.bits or 64) < 32 if hasattr(e, "type") else False


def changed(stmts: Sequence[Any]) -> tuple[set[str], set[str]]:
    """Variables and arrays that statements may write."""
    names: set[str] = set()
    arrays: set[str] = set()
    for s in stmts:
        match s:
            case Assign(name):
                names.add(name)
            case Store(array):
                arrays.add(array)
            case Atomic():
                arrays.add(s.array)
                if s.result:
                    names.add(s.result)
            case LocalArray(name):
                arrays.add(name)
            case CallStmt():
                names.update(s.results)
                for a in s.args:
                    if isinstance(a, ArrayRef):
                        arrays.add(a.array)
                    elif isinstance(a, Var):
                        names.add(a.name)
            case For():
                names.add(s.var)
        for inner in (getattr(s, "body", ()), getattr(s, "orelse", ())):
            if inner:
                more_names, more_arrays = changed(inner)
                names |= more_names
                arrays |= more_arrays
    return names, arrays


def jumps(stmts: Sequence[Any]) -> bool:
    """Is there a break or continue of this loop?"""
    for s in stmts:
        if isinstance(s, Break | Continue):
            return True
        if isinstance(s, If) and (jumps(s.body) or jumps(s.orelse)):
            return True
    return False


def continues(stmts: Sequence[Any]) -> bool:
    return any(
        isinstance(s, Continue) or (isinstance(s, If) and (continues(s.body) or continues(s.orelse))) for s in stmts
    )
