"""Memory seen as words of another width, and ``memcpy`` in a kernel: the same bits, whatever their type.

A word that several narrower elements make up (an ``int4`` of halves) is read by putting their bits together and
written by taking them apart; the middle sees an element that is put in and taken out again as itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.arithmetic import cast, is_simple, signed
from kraise.frontends.cuda_c.c_types import Array, CType, Struct
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.trees import Node, kind, strip
from kraise.frontends.cuda_c.values import Alias, Bound, Cell, NoValue, PointerValue, StructPlace, StructValue, Word
from kraise.ir.kernel import Const, Expr, For, Op, Var
from kraise.ir.types import INT32, INT64, ScalarType

_MOST = 64  # elements that are copied one by one


def as_bits(e: Expr, t: ScalarType) -> Expr:
    """The same bits as a value of type ``t`` (of the same width)."""
    if e.type == t:
        return e
    if isinstance(e, Op) and e.name == "bits" and e.args[0].type == t:
        return e.args[0]
    if e.type.is_integer and t.is_integer:
        return cast(e, t)
    return Op("bits", (e,), t, span=e.span)


def any_sign(operation: str, seen: ScalarType, stored: ScalarType) -> bool:
    """Whether an atomic of integers does to a cell seen through a pointer to another type what it does to the cell:
    sums wrap, and bits are bits, with a sign or without."""
    if not (seen.is_integer and stored.is_integer) or _width(seen) != _width(stored):
        return False
    return seen.kind == stored.kind or operation in ("add", "sub", "and_", "or_", "xor", "cas", "exch")


def unlimited(operation: str, values: tuple[Expr, ...], t: ScalarType) -> tuple[str, tuple[Expr, ...]]:
    """``atomicInc`` and ``atomicDec`` up to the last number of their type, which go round as sums do."""
    limit = fold(values[0]) if operation in ("inc", "dec") and values else None
    if limit is None or not t.bits or int(limit.value.real) % (1 << t.bits) != (1 << t.bits) - 1:
        return operation, values
    return ("add" if operation == "inc" else "sub"), (Const(1, t),)


def _width(t: ScalarType) -> int:
    return 8 if t.kind == "bool" else t.bits or 64


def _raw(e: Expr) -> Expr:
    return as_bits(e, ScalarType("uint", _width(e.type)))


def joined(parts: list[Expr], t: ScalarType) -> Expr:
    """The word that narrower values make up, the lowest first."""
    wide, at = ScalarType("uint", _width(t)), 0
    whole: Expr | None = None
    for p in parts:
        part = cast(_raw(p), wide)
        part = Op("shl", (part, Const(at, wide)), wide, span=p.span) if at else part
        whole = part if whole is None else Op("or_", (whole, part), wide, span=p.span)
        at += _width(p.type)
    assert whole is not None
    return as_bits(whole, t)


def part_of(word: Expr, at: int, t: ScalarType) -> Expr:
    """The value of type ``t`` in a word, from its bit ``at`` on."""
    whole = _raw(word)
    whole = Op("shr", (whole, Const(at, whole.type)), whole.type, span=word.span) if at else whole
    return as_bits(cast(whole, ScalarType("uint", _width(t))), t)


def packed_place(pointer: PointerValue, cells: list[Cell]) -> StructPlace:
    """The vector that ``pointer`` sees in elements of another type."""
    assert isinstance(pointer.to, Struct)
    members = pointer.to.members
    n = len(cells) // len(members)
    fields: list[tuple[str, Any]] = []
    for k, (name, t) in enumerate(members):
        own = cells[k * n : (k + 1) * n]
        assert isinstance(t, ScalarType)
        fields.append((name, replace(own[0], type=t, stored=pointer.stored) if n == 1 else Word(t, tuple(own))))
    return StructPlace(pointer.to, tuple(fields))


def seen_in_words(v: PointerValue, to: CType, old: CType) -> PointerValue | None:
    """A pointer to numbers seen as one to vectors of words of the same or a greater width; None for anything else."""
    if not (isinstance(to, Struct) and to.vector and isinstance(old, ScalarType) and v.stored is None):
        return None
    unit = to.members[0][1]
    if not isinstance(unit, ScalarType) or v.target is not None or not v.array or v.packed or v.arms is not None:
        return None
    wide, narrow = _width(unit), _width(old)
    if wide % narrow or "bool" in (old.kind, unit.kind):
        return None
    return replace(v, to=to, packed=len(to.members) * (wide // narrow), stored=old)


def as_word(v: PointerValue, to: CType, old: CType) -> PointerValue | None:
    """A pointer to numbers seen as one to wider ones (``(int *)`` of bytes), or back; None for anything else."""
    if v.target is not None or not v.array or v.arms is not None or v.raw is not None or v.inner is not None:
        return None
    if v.packed > 0 and v.stored is not None and to == v.stored:
        return replace(v, to=to, packed=0, stored=None)
    if not (isinstance(to, ScalarType) and isinstance(old, ScalarType)) or v.packed or v.stored is not None:
        return None
    wide, narrow = _width(to), _width(old)
    if wide <= narrow or wide % narrow or "bool" in (old.kind, to.kind):
        return None
    return replace(v, to=to, packed=wide // narrow, stored=old)


# --- memcpy


def _places(low: Any, place: Any, node: Tree) -> list[tuple[Any, ScalarType]]:
    """The numbers that a place is made of, in their order in memory."""
    match place:
        case Alias(target):
            return _places(low, target, node)
        case Bound(value):
            return [(place, e.type) for e in _values(low, value, node) for place in (Bound(e),)]
        case StructPlace(_, fields):
            return [p for _, f in fields for p in _places(low, f, node)]
        case Cell(array, subscripts, Array(of, Const(value=n))) if isinstance(n, int) and n <= _MOST:
            cells = [Cell(array, (*subscripts, Const(k, INT32)), of) for k in range(n)]
            return [p for c in cells for p in _places(low, c, node)]
        case Cell(_, _, Struct(_, members)):
            return [p for n, _ in members for p in _places(low, low.member(place, n, node), node)]
    t = getattr(place, "type", None)
    if not isinstance(t, ScalarType) or t.kind == "bool":
        raise low.refuse("KR299", "this copy of bytes is not raised", node, "copy with a loop over the elements")
    return [(place, t)]


def _values(low: Any, value: Any, node: Tree) -> list[Expr]:
    if isinstance(value, StructValue):
        return [e for _, v in value.fields for e in _values(low, v, node)]
    if isinstance(value, PointerValue):
        raise low.refuse("KR299", "this copy of bytes is not raised", node, "copy with a loop over the elements")
    return [value]


def _side(low: Any, argument: Node, size: int | None, node: Tree) -> Any:
    """What an argument of memcpy points to: a value, the places of so many bytes, or the pointer itself."""
    plain = strip(argument)
    if isinstance(plain, Tree) and kind(plain) == "unary_expression" and str(plain.children[0]) == "&":
        inner = strip(plain.children[1])
        if low._is_place(inner):
            return _places(low, low.place(inner), node)
        pointer = low.value(inner)  # an array is its address, too
        if not isinstance(pointer, PointerValue):
            return _values(low, pointer, node)
    else:
        pointer = low.value(plain)
    if not isinstance(pointer, PointerValue) or pointer.arms is not None:
        raise low.refuse("KR104", "memcpy needs pointers", node)
    if pointer.bytes_of is not None:
        raise low.refuse("KR299", "this copy of bytes is not raised", node, "copy with a loop over the elements")
    if pointer.target is not None:
        return _places(low, pointer.target, node)
    each = low.size_of(pointer.to)
    if size is None or not each or size % each or size // each > _MOST:
        return pointer
    cells = [low.element(pointer, Const(k, INT32), node) for k in range(size // each)]
    return [p for c in cells for p in _places(low, c, node)]


def memcpy(low: Any, name: str, rest: str, arguments: list[Tree], node: Tree) -> Any:
    """``memcpy(to, from, bytes)`` between variables, or a number of elements between arrays."""
    if len(arguments) != 3:
        raise low.refuse("KR103", f"`{name}` is called with {len(arguments)} arguments", node)
    length = low.scalar(arguments[2])
    known = fold(length)
    size = int(known.value) if known is not None else None  # type: ignore[arg-type]
    target, source = (_side(low, a, size, node) for a in arguments[:2])
    if isinstance(target, PointerValue) and isinstance(source, PointerValue):
        return _copied(low, target, source, length, node)
    if isinstance(target, PointerValue) or isinstance(source, PointerValue):
        raise low.refuse("KR299", "this copy of bytes is not raised", node, "copy with a loop over the elements")
    values = [low.read(s[0], node) if isinstance(s, tuple) else s for s in source]
    if size is None or sum(_width(e.type) for e in values) != 8 * size or sum(_width(t) for _, t in target) != 8 * size:
        raise low.refuse("KR299", "a part of a variable is copied", node, "copy with a loop over the elements")
    starts = [sum(_width(e.type) for e in values[:k]) for k in range(len(values))]
    at = 0
    for place, t in target:
        inside = [(s, e) for s, e in zip(starts, values, strict=True) if s < at + _width(t) and at < s + _width(e.type)]
        first, last = inside[0], inside[-1]
        if len(inside) == 1:
            if not is_simple(first[1]) and _width(first[1].type) > _width(t):
                k = values.index(first[1])
                values[k] = low.temporary(first[1], "word", node)
                first = (first[0], values[k])
            same = _width(first[1].type) == _width(t)
            value = as_bits(first[1], t) if same else part_of(first[1], at - first[0], t)
        elif first[0] == at and last[0] + _width(last[1].type) == at + _width(t):
            value = joined([e for _, e in inside], t)
        else:
            raise low.refuse("KR299", "bytes are copied across numbers", node, "copy with a loop over the elements")
        low.write(place, value, node)
        at += _width(t)
    return NoValue()


def _copied(low: Any, target: PointerValue, source: PointerValue, length: Expr, node: Tree) -> Any:
    """So many elements from one array to another, whose types are the same."""
    each = low.size_of(target.to)
    count: Expr | None = None
    while isinstance(length, Op) and length.name == "mul" and count is None:
        for a, b in (length.args, length.args[::-1]):
            if (known := fold(b)) is not None and each and known.value == each:
                count = a
        break
    if count is None or target.to != source.to or not isinstance(target.to, ScalarType):
        raise low.refuse("KR299", "this copy of bytes is not raised", node, "copy with a loop over the elements")
    index = low.fresh("k")
    low.names[index] = INT32
    k = Var(index, INT32, span=low.span(node))
    with low.captured() as body:
        low.write(low.element(target, k, node), low.read(low.element(source, k, node), node), node)
    t = count.type if count.type.is_integer else INT64
    stop = cast(signed(count), INT32) if t.is_integer else count
    low.emit(For(index, Const(0, INT32), stop, Const(1, INT32), tuple(body), span=low.span(node)))
    return NoValue()


__all__ = ["as_bits", "as_word", "joined", "memcpy", "packed_place", "part_of", "seen_in_words"]
