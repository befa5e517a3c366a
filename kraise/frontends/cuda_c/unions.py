"""Unions: the same bytes, seen as one type or another.

A union is kept as a struct of one member, its bytes: a number, or an array of the narrowest numbers that any of its
members is made of. Each member is a view of them: the same bits as another type (``c.f = x; c.u >>= 1``), a wider
number put together, a vector or a struct number by number. The bytes are floats where a member is made of floats of
that width: what passes through the union as a float keeps its derivative. Not raised: an array of wider numbers,
members whose numbers have several widths (padding), pointers; a parameter of a kernel (its bytes have no type for a
caller).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kraise.frontends.cuda_c.c_types import Array, CType, Struct
from kraise.frontends.cuda_c.copied import as_bits
from kraise.frontends.cuda_c.values import Cell, Part, PointerValue, StructPlace, StructValue, Word
from kraise.ir.kernel import Const
from kraise.ir.types import INT32, ScalarType

BYTES = "bytes"
_MOST = 64  # numbers of a member that is no array


def union_members(t: Any) -> tuple[tuple[str, CType], ...]:
    """The members of a union; () for any other type."""
    return getattr(t.defined, "union", ()) if isinstance(t, Struct) else ()


def is_union_member(t: Any, name: str) -> bool:
    """Is ``name`` a member of a union ``t``?"""
    return any(n == name for n, _ in union_members(t))


def bytes_of(members: list[tuple[str, CType]]) -> tuple[tuple[str, CType], ...] | None:
    """The only member of the struct that a union is kept as; None where it is not raised."""
    found = [_numbers(t) for _, t in members]
    if not found or not all(found):
        return None
    narrowest = min(f[0].bits or 0 for f in found)
    if narrowest < 8 or any((f[0].bits or 0) % narrowest for f in found):
        return None
    if any(isinstance(t, Array) and f[0].bits != narrowest for (_, t), f in zip(members, found, strict=True)):
        return None
    types = {e for f in found for e in f if e.bits == narrowest}
    floats = {e for e in types if e.kind == "float"}
    own = next(iter(types)) if len(types) == 1 else ScalarType("uint", narrowest)
    if len(floats) == 1:
        (own,) = floats
    count = max(len(f) * ((f[0].bits or 0) // narrowest) for f in found)
    return ((BYTES, own if count == 1 else Array(own, Const(count, INT32))),)


def _numbers(t: CType) -> list[ScalarType]:
    """The numbers that a type is made of, if they are of one width; [] if they are not, or it is made of others."""
    match t:
        case ScalarType(kind="int" | "uint" | "float", bits=bits) if bits:
            return [t]
        case Array(ScalarType(kind="int" | "uint" | "float", bits=bits) as of, Const(value=int() as n)) if (
            bits and n > 1
        ):
            return [of] * n
        case Struct(members=members) if members and not union_members(t):
            parts = [_numbers(m) for _, m in members]
            whole = [e for p in parts for e in p]
            return whole if all(parts) and len({e.bits for e in whole}) == 1 and len(whole) <= _MOST else []
    return []


def view(low: Any, place: Any, t: Struct, name: str, node: Any) -> Any:
    """The place that the member ``name`` of the union ``place`` is. Raises Refused."""
    wanted = next(m for n, m in union_members(t) if n == name)
    whole, held = low.member(place, BYTES, node), t.members[0][1]
    if not isinstance(held, Array):
        return _seen(low, [whole], held, wanted, node)
    pointer = low.read(whole, node)
    assert isinstance(held.extent, Const) and isinstance(held.of, ScalarType)
    if isinstance(wanted, Array):
        seen = None if wanted.of == held.of else held.of
        return Part(replace(pointer, to=wanted.of, stored=seen), wanted)
    cells = [low.element(pointer, Const(k, INT32), node) for k in range(int(held.extent.value.real))]
    return _seen(low, cells, held.of, wanted, node)


def _seen(low: Any, cells: list[Any], own: CType, t: CType, node: Any) -> Any:
    """The first of the cells as a number or a struct of type ``t``."""
    assert isinstance(own, ScalarType)
    if isinstance(t, ScalarType):
        n = (t.bits or 0) // (own.bits or 1)
        if t == own:
            return cells[0]
        if n == 1 and isinstance(cells[0], Cell):
            return replace(cells[0], type=t, stored=own)
        return Word(t, tuple(cells[:n]))
    if not isinstance(t, Struct):
        raise low.refuse("KR299", "this member of a union is not raised", node, "use a number of the same width")
    fields: list[tuple[str, Any]] = []
    at = 0
    for member, m in t.members:
        fields.append((member, _seen(low, cells[at:], own, m, node)))
        at += len(_numbers(m)) * ((_numbers(m)[0].bits or 0) // (own.bits or 1))
    return StructPlace(t, tuple(fields))


def member_value(low: Any, value: StructValue, name: str, node: Any) -> Any:
    """The member ``name`` of a union that is a value. Raises Refused."""
    wanted = next(m for n, m in union_members(value.type) if n == name)
    bits: Any = value.fields[0][1]
    if isinstance(wanted, ScalarType) and not isinstance(bits, PointerValue) and bits.type.bits == wanted.bits:
        return as_bits(bits, wanted)
    raise low.refuse("KR299", "a member of a union that is no variable is not raised", node, "give it a name first")


def as_bytes(low: Any, t: Struct, name: str, value: Any, node: Any) -> StructValue:
    """The union whose member ``name`` is ``value``, as ``{value}`` makes it. Raises Refused."""
    held = t.members[0][1]
    if not isinstance(held, ScalarType) or getattr(getattr(value, "type", None), "bits", None) != held.bits:
        raise low.refuse("KR299", "this initializer of a union is not raised", node, "set its members one by one")
    return StructValue(t, ((BYTES, as_bits(value, held)),))


__all__ = ["BYTES", "as_bytes", "bytes_of", "is_union_member", "member_value", "union_members", "view"]
