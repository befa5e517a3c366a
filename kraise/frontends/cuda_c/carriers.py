"""Vectors that only carry bits: ``uint4 v = *(const uint4 *)x; ... ((const half *)&v)[k]`` is eight halves.

A local vector whose address is seen as one other type is an array of that type's numbers; as the vector it is seen in
words, as memory is (see copied.py).
"""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c.c_types import Array, CType, Pointer, Struct
from kraise.frontends.cuda_c.trees import end
from kraise.frontends.cuda_c.values import Cell, PointerValue, StructPlace, Word
from kraise.ir.kernel import Const
from kraise.ir.types import INT32, ScalarType


def carrier(low: Any, name: str, t: Struct, item: Tree) -> StructPlace | None:
    """The place of a local vector that the block sees as numbers of another type, which it is kept as."""
    seen = [tree for at, tree in low.usage.seen.get(name, ()) if end(item) <= at < low.block_end]
    own = t.members[0][1] if t.vector else None
    if not seen or not isinstance(own, ScalarType) or not own.bits:
        return None
    try:
        kinds = {low.type_id(tree) for tree in seen}
    except Refused:  # a type that is declared further on
        return None
    elements = {_number(k.to) if isinstance(k, Pointer) else None for k in kinds if k != Pointer(t)}
    element = elements.pop() if len(elements) == 1 else None
    if element is None or not element.bits or element.kind == "bool" or own.bits % element.bits:
        return None
    count = len(t.members) * own.bits // element.bits
    base = PointerValue(low.array_name(name), (), None, element)
    low._local_array(base.array, Array(element, Const(count, INT32)), "local", (), item)
    low.carriers = {**low.carriers, base.array: base}
    place = low.element(low.cast_pointer(base, Pointer(t), item), None, item)
    assert isinstance(place, StructPlace)
    return place


def carried(low: Any, place: Any) -> PointerValue | None:
    """The numbers of a vector that is kept as an array of them; None for any other place."""
    if not isinstance(place, StructPlace) or not place.fields:
        return None
    first = place.fields[0][1]
    cell = first.parts[0] if isinstance(first, Word) else first
    return low.carriers.get(cell.array) if isinstance(cell, Cell) else None


def _number(t: CType) -> ScalarType | None:
    if isinstance(t, Struct) and t.vector:
        t = t.members[0][1]
    return t if isinstance(t, ScalarType) else None


__all__ = ["carried", "carrier"]
