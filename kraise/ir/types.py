"""Element types and array types, shared by Kernel IR and equations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


class _Interned(type):
    """Gives one object per kind and width: they are compared and hashed by identity, everywhere and often."""

    _known: dict[tuple[str, int | None], ScalarType] = {}

    def __call__(cls, kind: str, bits: int | None = None) -> ScalarType:
        known = cls._known.get((kind, bits))
        if known is None:
            known = cls._known[kind, bits] = super().__call__(kind, bits)
        return known


@dataclass(frozen=True, eq=False)
class ScalarType(metaclass=_Interned):
    """A scalar type: a kind and a width; equal ones are one object.

    ``kind`` is one of ``bool``, ``int``, ``uint``, ``float``, ``complex``, ``bfloat`` (bfloat16) or ``number``
    (not known before the call: the type of an argument of a Python kernel). ``bits`` is None where the
    language does not fix a width (Python's ``int`` and ``float``, and ``number``).
    """

    kind: str
    bits: int | None = None

    def __str__(self) -> str:
        if self.kind == "bfloat":
            return "bfloat16"
        return self.kind if self.bits is None or self.kind == "bool" else f"{self.kind}{self.bits}"

    def __reduce__(self) -> tuple[type[ScalarType], tuple[str, int | None]]:
        return ScalarType, (self.kind, self.bits)

    @cached_property
    def is_integer(self) -> bool:
        return self.kind in ("int", "uint")

    @cached_property
    def is_inexact(self) -> bool:
        return self.kind in ("float", "complex", "bfloat")

    def wrapped(self, value: int) -> int:
        """What an integer type holds in place of a number that it may not hold."""
        if self.bits is None:
            return value
        half = 1 << (self.bits - 1) if self.kind == "int" else 0
        return (value + half) % (1 << self.bits) - half


BOOL = ScalarType("bool", 8)
INT = ScalarType("int")  # Python's int
FLOAT = ScalarType("float")  # Python's float
COMPLEX = ScalarType("complex")  # Python's complex
NUMBER = ScalarType("number")  # whatever the argument holds
INT8, INT16, INT32, INT64 = (ScalarType("int", b) for b in (8, 16, 32, 64))
UINT8, UINT16, UINT32, UINT64 = (ScalarType("uint", b) for b in (8, 16, 32, 64))
FLOAT16, FLOAT32, FLOAT64 = (ScalarType("float", b) for b in (16, 32, 64))
BFLOAT16 = ScalarType("bfloat", 16)
COMPLEX64, COMPLEX128 = ScalarType("complex", 64), ScalarType("complex", 128)

BY_NAME = {
    str(t): t
    for t in (
        BOOL,
        INT8,
        INT16,
        INT32,
        INT64,
        UINT8,
        UINT16,
        UINT32,
        UINT64,
        FLOAT16,
        FLOAT32,
        FLOAT64,
        BFLOAT16,
        COMPLEX64,
        COMPLEX128,
    )
}


@dataclass(frozen=True)
class ArrayType:
    """An array of scalars with a fixed number of axes; a C pointer has one.

    ``tail`` are the extents of its last axes where the type fixes them: (4,) for ``float4 *``.
    """

    element: ScalarType
    ndim: int
    tail: tuple[int, ...] = ()


@dataclass(frozen=True)
class StructType:
    """A struct, by value or (``is_array``) one per element; members keep their declared order."""

    name: str
    members: tuple[tuple[str, ScalarType | ArrayType | StructType], ...]
    is_array: bool = False

    @property
    def holds_arrays(self) -> bool:
        """Is it a struct by value with pointers among its members?"""
        return not self.is_array and any(isinstance(t, ArrayType) for _, t in self.members)

    @property
    def is_record(self) -> bool:
        """Is it a struct by value with arrays and with integers, which decide the arrays' shapes?"""
        return self.holds_arrays and any(isinstance(t, ScalarType) and t.is_integer for _, t in self.members)


Type = ScalarType | ArrayType | StructType
