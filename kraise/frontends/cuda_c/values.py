"""What an expression of C stands for while it is lowered: a scalar of Kernel IR, a struct, a pointer, or a place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.c_types import Array, CType, Pointer, Struct
from kraise.ir.kernel import Const, Expr, Stmt
from kraise.ir.types import ScalarType

# --- places: what can be assigned


@dataclass(frozen=True)
class VarPlace:
    """A local scalar or a scalar parameter."""

    name: str
    type: ScalarType


@dataclass(frozen=True)
class Cell:
    """An element of an array, or (``type`` an array or a struct) a part of it; ``subscripts`` are the leading ones."""

    array: str
    subscripts: tuple[Expr, ...]
    type: CType
    stored: ScalarType | None = None  # the element as it lies in memory, where a pointer cast sees it as ``type``


@dataclass(frozen=True)
class StructPlace:
    """A struct that is kept as separate variables."""

    type: Struct
    fields: tuple[tuple[str, Place], ...]


@dataclass(eq=False)
class PointerPlace:
    """A pointer variable: the array and offset that it stands for; ``offset_name`` is a moving offset's variable.

    One that changes places with others is, as the variable ``which`` says, what one of the names ``among`` stands for
    (its own: the ``value`` that it began with). ``home``: the statements among which it is declared.
    """

    name: str
    type: Pointer
    value: PointerValue | None = None
    offset_name: str = ""
    which: str = ""
    among: tuple[str, ...] = ()
    home: list[Stmt] | None = None


@dataclass(frozen=True)
class Word:
    """A number whose bits are those of several narrower elements, the lowest first."""

    type: ScalarType
    parts: tuple[Cell, ...]


@dataclass(frozen=True)
class Part:
    """An array that is part of another: a member of a struct that a pointer sees in a flat array."""

    pointer: PointerValue
    type: Array


Place = VarPlace | Cell | StructPlace | PointerPlace | Word | Part

# --- values


@dataclass(frozen=True)
class PointerValue:
    """Points at ``array[prefix..., offset]``; ``offset`` None is 0. ``target`` is set where it points at no element.

    ``arms`` is (condition, pointer if true, pointer if false) for a pointer that a condition chooses.
    """

    array: str
    prefix: tuple[Expr, ...]
    offset: Expr | None
    to: CType
    target: Any = None  # a Place
    arms: tuple[Expr, PointerValue, PointerValue] | None = None
    raw: Any = None  # an untyped dynamic shared array: its element is the type of the first cast
    stored: ScalarType | None = None  # the element in memory, where a cast makes it seem another type of its size
    # n: sees n scalars as one vector (of words of another type where ``stored`` says theirs) or one struct of scalars;
    # -n: sees a vector of n as scalars (``offset`` then counts those)
    packed: int = 0
    inner: Struct | None = None  # the vectors that the array holds, where n of them are seen as a longer one
    # what it points to, and from where on, while it is seen as a pointer to bytes (``offset`` then counts these)
    bytes_of: tuple[CType, Expr | None] | None = None


def held(p: PointerValue) -> CType:
    """The type of the elements of the array that ``p`` points into."""
    if p.inner is not None:
        return p.inner
    if p.packed > 0 and p.stored is None and isinstance(p.to, Struct):
        first = p.to.members[0][1]
        return first.of if isinstance(first, Array) else first
    return p.stored or p.to


@dataclass(frozen=True)
class StructValue:
    type: Struct
    fields: tuple[tuple[str, Value], ...]

    def field(self, name: str) -> Value | None:
        """A member's value."""
        return next((v for n, v in self.fields if n == name), None)


@dataclass(frozen=True)
class NoValue:
    """What a void expression has."""


@dataclass(frozen=True)
class Lambda:
    """A local lambda and the scopes that it sees."""

    tree: Tree
    scopes: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Named(Lambda):
    """A function of the file, by its name, as a value: it stands where a lambda may."""

    name: str = ""


@dataclass(frozen=True)
class Group:
    """A cooperative-groups object: block, grid or tile (of ``size`` threads)."""

    kind: str
    size: int = 32


@dataclass(frozen=True)
class Text:
    """A string literal: only printing takes it."""


Value = Expr | PointerValue | StructValue | NoValue | Lambda | Group | Text

# --- entities that are no places: what else a name can mean


@dataclass(frozen=True)
class Constant:
    value: Const


@dataclass(frozen=True)
class TypeName:
    type: CType


@dataclass
class Alias:
    """A C++ reference: another name of a place."""

    place: Place
    type: CType | None = None


@dataclass(frozen=True)
class Bound:
    """A parameter of an inlined function that is never written: it is the value itself."""

    value: Any


@dataclass
class GlobalVariable:
    """A ``__constant__`` or ``__device__`` variable without a fixed value: it becomes a parameter where it is used."""

    name: str
    type: CType
    place: Place
    constant: bool
    span: Any = None
    extra: list[Any] = field(default_factory=list)


Entity = Place | Bound | Constant | TypeName | Alias | GlobalVariable | Lambda | Group
