"""Rows whose length is given in bytes: ``(float *)((char *)p + y * pitch) + x``, what ``cudaMallocPitch`` is for.

A pointer seen as one to bytes counts these until it is seen as what it was: the bytes between are whole elements where
each term is a multiple of their size, or has a factor that is, a parameter that the launch must give such a value.
Dynamic shared memory that is declared as bytes is cut into parts in the same way.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kraise.frontends.cuda_c.arithmetic import add_offsets
from kraise.frontends.cuda_c.c_types import CType, Struct
from kraise.frontends.cuda_c.trees import Node
from kraise.frontends.cuda_c.values import PointerValue
from kraise.ir.kernel import Cast, Const, Expr, Op, Var
from kraise.ir.types import ScalarType


def as_bytes(v: PointerValue, to: CType) -> PointerValue | None:
    """``v`` as a pointer to bytes; None where it is no plain pointer to numbers or vectors."""
    plain = v.target is None and v.array and v.arms is None and v.raw is None and v.stored is None and v.packed == 0
    numbers = isinstance(v.to, ScalarType) or (isinstance(v.to, Struct) and v.to.vector)
    if not (plain and numbers and v.bytes_of is None and _is_byte(to)):
        return None
    return replace(v, to=to, offset=None, bytes_of=(v.to, v.offset))


def as_elements(low: Any, v: PointerValue, to: CType, node: Node) -> PointerValue | None:
    """The same pointer seen as before; None where it is seen as something else, or lies within an element."""
    assert v.bytes_of is not None
    old, start = v.bytes_of
    if _is_byte(to):
        return replace(v, to=to)
    size = low.size_of(old)
    if to != old or not size:
        return None
    if v.offset is None:
        return replace(v, to=old, offset=start, bytes_of=None)
    given: frozenset[str] = low.sizes_given or frozenset()
    for names in (frozenset[str](), given):
        counted = _divided(v.offset, size, names)
        if counted is not None:
            low.multiples |= {(n, size) for n in _divisors(counted, names)}
            return replace(v, to=old, offset=add_offsets(start, counted), bytes_of=None)
    return None


def in_elements(low: Any, v: PointerValue, to: CType) -> PointerValue | None:
    """A place in dynamic shared memory that bytes count (``(T *)(memory + n * sizeof(T))``), counted in elements.

    Each access gives the array its type, or is refused where another one did; None where the place may lie within an
    element, or ``v`` is no such pointer.
    """
    size = low.size_of(to) if v.raw is not None and not v.packed and v.stored is None and _is_byte(v.to) else None
    if not size or v.arms is not None or v.bytes_of is not None:
        return None
    if v.offset is None:
        return replace(v, to=to)
    counted = _divided(v.offset, size, frozenset())
    return None if counted is None else replace(v, to=to, offset=_narrow(counted))


def _narrow(e: Expr) -> Expr:
    """A count of elements without its widening to ``size_t``: bytes behind a pointer are those of a signed number."""
    match e:
        case Op(name="mul", args=(a, Const(value=1))) | Op(name="mul", args=(Const(value=1), a)):
            return _narrow(a)
        case Cast(arg=a, type=t) if t.is_integer and a.type.is_integer and a.type.kind == "int":
            return _narrow(a) if (t.bits or 64) >= (a.type.bits or 64) else e
        case Op(name="add" | "sub", args=(a, b)):
            x, y = _narrow(a), _narrow(b)
            return replace(e, args=(x, y), type=x.type) if x.type == y.type else e
    return e


def _is_byte(t: CType) -> bool:
    return isinstance(t, ScalarType) and t.is_integer and t.bits == 8


def _divided(e: Expr, by: int, names: frozenset[str]) -> Expr | None:
    """``e / by`` without a rest, where parameters in ``names`` have none."""
    match e:
        case Const(value=int() as n):
            return replace(e, value=n // by) if n % by == 0 else None
        case Op(name="add" | "sub", args=(a, b)):
            x, y = _divided(a, by, names), _divided(b, by, names)
            return None if x is None or y is None else replace(e, args=(x, y))
        case Op(name="mul", args=(a, b)):
            x = _divided(b, by, names)
            if x is not None:
                return replace(e, args=(a, x))
            x = _divided(a, by, names)
            return None if x is None else replace(e, args=(x, b))
        case Cast(arg=a, type=t) if t.is_integer:
            x = _divided(a, by, names)
            return None if x is None else replace(e, arg=x)
        case Var(name=name, type=t) if name in names:
            return Op("tdiv", (e, Const(by, t)), t, span=e.span)
    return None


def _divisors(e: Expr, names: frozenset[str]) -> set[str]:
    """The parameters that stand divided in a result of ``_divided``."""
    match e:
        case Op(name="tdiv", args=(Var(name=name), Const())) if name in names:
            return {name}
        case Op(args=args):
            return set().union(*(_divisors(a, names) for a in args))
        case Cast(arg=a):
            return _divisors(a, names)
    return set()


__all__ = ["as_bytes", "as_elements", "in_elements"]
