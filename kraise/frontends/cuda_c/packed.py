"""Numbers seen as vectors or structs of them, ``(float4 *)`` and ``(Pack<float, 4> *)``, and the other way round."""

from __future__ import annotations

from typing import Any

from kraise.frontends.cuda_c.arithmetic import add_offsets, signed
from kraise.frontends.cuda_c.c_types import Array, CType, Struct
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.copied import packed_place
from kraise.frontends.cuda_c.values import Cell, Part, PointerValue, StructPlace, Word
from kraise.ir.kernel import Const, Expr
from kraise.ir.types import INT32, ScalarType

_ZERO = Const(0, INT32)


def numbers_in(t: CType, of: CType) -> int:
    """How many numbers of type ``of`` a struct consists of, and of nothing else; 0 if it does not."""
    if not isinstance(t, Struct) or not isinstance(of, ScalarType):
        return 0
    counts = [_count(m, of) for _, m in t.members]
    return sum(counts) if all(counts) else 0


def vectors_in(t: CType, of: CType) -> int:
    """How many vectors ``of`` a longer one consists of: 2 ``float2`` of a ``float4``; 0 if it does not."""
    if not (isinstance(t, Struct) and isinstance(of, Struct) and t.vector and of.vector):
        return 0
    if t.members[0][1] != of.members[0][1] or len(t.members) % len(of.members):
        return 0
    return len(t.members) // len(of.members)


def _count(t: CType, of: ScalarType) -> int:
    if t == of:
        return 1
    if isinstance(t, Array) and t.of == of and isinstance(t.extent, Const):
        return max(int(t.extent.value.real), 0)
    return 0


def packed_element(low: Any, pointer: PointerValue, index: Expr | None) -> Any:
    """An element seen through ``(float4 *)`` of floats, or through ``(float *)`` of float4s."""
    n = abs(pointer.packed)
    size = Const(n, INT32)
    if pointer.packed > 0:
        moved = low.binary("*", signed(index), size) if index is not None else None
        start = add_offsets(pointer.offset, moved)

        def place(at: int) -> Expr:
            return add_offsets(start, Const(at, INT32) if at else None) or Const(at, INT32)

        if isinstance(pointer.to, ScalarType) and pointer.stored is not None:
            return Word(pointer.to, tuple(_cell(pointer, place(k)) for k in range(n)))
        assert isinstance(pointer.to, Struct)
        if pointer.inner is not None:
            width = len(pointer.inner.members)

            def part(k: int, t: CType) -> Cell:
                return Cell(pointer.array, (*pointer.prefix, place(k // width), Const(k % width, INT32)), t)

            return StructPlace(pointer.to, tuple((m, part(k, t)) for k, (m, t) in enumerate(pointer.to.members)))
        if pointer.stored is not None:
            return packed_place(pointer, [_cell(pointer, place(k)) for k in range(n)])
        fields: list[tuple[str, Any]] = []
        at = 0
        for name, t in pointer.to.members:
            if isinstance(t, Array):
                fields.append((name, Part(PointerValue(pointer.array, pointer.prefix, place(at), t.of), t)))
                assert isinstance(t.of, ScalarType)
                at += _count(t, t.of)
            else:
                fields.append((name, Cell(pointer.array, (*pointer.prefix, place(at)), t)))
                at += 1
        return StructPlace(pointer.to, tuple(fields))
    flat = add_offsets(pointer.offset, signed(index) if index is not None else None) or _ZERO
    known = fold(flat)
    if known is not None:
        row: Expr = Const(int(known.value) // n, INT32)  # type: ignore[arg-type]
        column: Expr = Const(int(known.value) % n, INT32)  # type: ignore[arg-type]
    else:
        row, column = low.binary("/", flat, size), low.binary("%", flat, size)
    return Cell(pointer.array, (*pointer.prefix, row, column), pointer.to)


def _cell(pointer: PointerValue, at: Expr) -> Cell:
    assert pointer.stored is not None
    return Cell(pointer.array, (*pointer.prefix, at), pointer.stored)


__all__ = ["numbers_in", "packed_element", "vectors_in"]
