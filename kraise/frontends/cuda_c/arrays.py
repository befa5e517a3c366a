"""Local arrays: per thread, shared by a block, dynamic; their initializers."""

from __future__ import annotations

from dataclasses import dataclass

from lark import Tree

from kraise.diagnostics import Span
from kraise.frontends.cuda_c.arithmetic import signed
from kraise.frontends.cuda_c.c_types import Array, CType, Pointer, Struct, array_leaves
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.declarations import Specifiers
from kraise.frontends.cuda_c.expressions import Expressions
from kraise.frontends.cuda_c.strings import spelled_out
from kraise.frontends.cuda_c.trees import Node, strip
from kraise.frontends.cuda_c.values import (
    Cell,
    PointerPlace,
    PointerValue,
)
from kraise.ir.kernel import Const, Expr, LocalArray, Stmt
from kraise.ir.types import BOOL, INT32, ScalarType


@dataclass
class DynamicShared:
    """The dynamic shared memory of a block; its element is that of the first access, ``width`` a vector's, ``struct``
    one that is kept as an array for each member."""

    name: str
    element: ScalarType
    span: Span | None
    width: int = 0
    typed: bool = False
    struct: Struct | None = None


def kindof(node: Node) -> str:
    return str(node.data) if isinstance(node, Tree) else node.type


def _size(t: CType) -> int | None:
    n = 1
    while isinstance(t, Array):
        known = fold(t.extent) if t.extent is not None else None
        if known is None:
            return None
        n *= int(known.value)  # type: ignore[arg-type]
        t = t.of
    return n


def _element(t: CType) -> CType:
    while isinstance(t, Array):
        t = t.of
    return t


def _zero(t: CType) -> Const:
    """Zero, as the first number in a ``t``."""
    while not isinstance(t, ScalarType):
        match t:
            case Array(of=of):
                t = of
            case Struct(members=((_, first), *_)):
                t = first
            case _:
                t = INT32
    return Const(False if t == BOOL else 0.0 if t.is_inexact else 0, t)


class Arrays(Expressions):
    """Array declarations."""

    dynamic: DynamicShared | None

    def _define_array(self, name: str, t: CType, specifiers: Specifiers, initial: Node | None, item: Tree) -> None:
        space = "shared" if "__shared__" in specifiers.words else "local"
        if "extern" in specifiers.words and space == "shared":
            self._dynamic(name, t, item)
            if "volatile" in specifiers.words:
                self.volatile.add(self.lookup(name).value.array)
            return
        initial = spelled_out(initial, t)
        if isinstance(t, Array) and t.extent is None:
            n = len([c for c in initial.children if isinstance(c, Tree)]) if isinstance(initial, Tree) else 0
            if not n:
                raise self.refuse("KR104", f"the array `{name}` has no extent", item)
            t = Array(t.of, Const(n, INT32))
        array = self.array_name(name)
        if space == "shared" and "volatile" in specifiers.words:
            self.volatile.add(array)
        values: tuple[Expr, ...] = ()
        if initial is not None and isinstance(t, Array):
            if space == "shared":
                raise self.refuse("KR104", "shared memory cannot have an initializer", item)
            values = self.array_values(initial, t, item)
        if not isinstance(t, Array):  # a shared scalar or struct: an array of one
            self._local_array(array, Array(t, Const(1, INT32)), space, values, item)
            self.declare(name, Cell(array, (Const(0, INT32),), t))
            return
        self._local_array(array, t, space, values, item)
        self.declare(name, Cell(array, (), t))

    def array_name(self, name: str) -> str:
        """The IR name of a new array."""
        return self.fresh(name)

    def _local_array(self, array: str, t: Array, space: str, values: tuple[Expr, ...], item: Tree | None) -> None:
        shape: list[Expr] = []
        inner: CType = t
        span = self.span(item) if item is not None else None
        while isinstance(inner, Array):
            if inner.extent is None:
                raise self.refuse("KR104", f"the array `{array}` has no extent", item)
            shape.append(signed(inner.extent))
            inner = inner.of
        if isinstance(inner, Struct) and not inner.vector:
            if any(not isinstance(v, Const) or v.value != 0 for v in values):
                raise self.refuse("KR299", "an array of structs with an initializer is not raised", item)
            for path, element, axes in array_leaves(array, inner, 0):
                extra = self._member_shape(inner, path[len(array) + 1 :], axes)
                fill = _zero(element) if values else None
                self.emit(LocalArray(path, element, (*shape, *extra), space, fill=fill, span=span))
            return
        if isinstance(inner, Struct):
            shape.append(Const(len(inner.members), INT32))
            inner = inner.members[0][1]
        if not isinstance(inner, ScalarType):
            raise self.refuse("KR299", f"the array `{array}` of pointers is not raised", item)
        if values:
            total = 1
            for e in shape:
                known = fold(e)
                if known is None:
                    raise self.refuse("KR104", f"the extent of `{array}` is not a constant", item)
                total *= int(known.value)  # type: ignore[arg-type]
            if all(isinstance(v, Const) and v.value == 0 for v in values) and total > len(values):
                self.emit(LocalArray(array, inner, tuple(shape), space, fill=_zero(inner), span=span))
                return
            if len(values) > total:
                raise self.refuse("KR104", f"too many values for `{array}`", item)
        self.emit(LocalArray(array, inner, tuple(shape), space, values=values, span=span))

    def _member_shape(self, t: Struct, path: str, axes: int) -> list[Expr]:
        current: CType = t
        for part in path.split("."):
            assert isinstance(current, Struct)
            found = current.member(part)
            assert found is not None
            current = found
        shape: list[Expr] = []
        while isinstance(current, Array):
            shape.append(signed(current.extent or Const(0, INT32)))
            current = current.of
        if isinstance(current, Struct):
            shape.append(Const(len(current.members), INT32))
        return shape

    def array_values(self, initial: Node, t: Array, item: Tree) -> tuple[Expr, ...]:
        """An initializer, row by row; rows that are cut short are filled with zeros."""
        if not isinstance(initial, Tree) or initial.data != "braced_init_list":
            raise self.refuse("KR101", "this array initializer is not raised", item)
        items = [strip(c) for c in initial.children if isinstance(c, Tree)]
        inner = t.of
        if not items:  # {}: all zeros
            return (_zero(inner),)
        if isinstance(inner, ScalarType):
            return tuple(self.convert(self.value(c), inner, c) for c in items)
        rows: list[Expr] = []
        nested = all(isinstance(c, Tree) and c.data == "braced_init_list" for c in items)
        if isinstance(inner, Struct) and inner.vector:
            for c in items:
                v = self.braced(c, inner) if kindof(c) == "braced_init_list" else self.convert(self.value(c), inner, c)  # type: ignore[arg-type]
                rows += [x for _, x in v.fields]
            return tuple(rows)
        if not isinstance(inner, Array):
            raise self.refuse("KR299", "this array initializer is not raised", item)
        width = _size(inner)
        if width is None:
            raise self.refuse("KR104", "the extent of the array is not a constant", item)
        if not nested:  # braces left out
            return tuple(self.convert(self.value(c), _element(inner), c) for c in items)
        for c in items:
            row = self.array_values(c, inner, item)
            if len(row) < width:
                row = (*row, *(self.zero(_element(inner), item),) * (width - len(row)))
            rows += row
        return tuple(rows)

    def _dynamic(self, name: str, t: CType, item: Tree) -> None:
        element = t.of if isinstance(t, Array) else t
        base = _dynamic_element(element)
        if base is None:
            raise self.refuse("KR299", f"the dynamic shared array `{name}` of this type is not raised", item)
        if self.dynamic is None:  # all of them begin at one address
            self.dynamic = DynamicShared(self.array_name(name), base[0], self.span(item))
        pointer = PointerValue(self.dynamic.name, (), None, element, raw=self.dynamic)
        self.declare(name, PointerPlace(name, Pointer(element), pointer))

    def used_as(self, shared: DynamicShared, element: CType, node: Node | None) -> None:
        """The dynamic array holds values of type ``element``."""
        found = _dynamic_element(element)
        if found is None:
            raise self.refuse("KR299", f"the dynamic shared array `{shared.name}` of this type is not raised", node)
        if shared.typed and (shared.element, shared.width, shared.struct) != found:
            raise self.refuse(
                "KR299", f"`{shared.name}` holds values of two types", node, "use one shared array for each type"
            )
        shared.element, shared.width, shared.struct = found
        shared.typed = True

    def with_dynamic(self, body: list[Stmt]) -> list[Stmt]:
        """``body`` with the dynamic shared array that it uses."""
        shared = self.dynamic
        if shared is None:
            return body
        if shared.struct is not None:
            leaves = array_leaves(shared.name, shared.struct, 0)
            made = [LocalArray(n, e, (), "shared", dynamic=True, span=shared.span) for n, e, _ in leaves]
            return [*made, *body]
        shape: tuple[Expr, ...] = (Const(shared.width, INT32),) if shared.width else ()
        made = [LocalArray(shared.name, shared.element, shape, "shared", dynamic=True, span=shared.span)]
        return [*made, *body]


def _dynamic_element(t: CType) -> tuple[ScalarType, int, Struct | None] | None:
    """The number that an element of a dynamic shared array begins with, how many there are in a vector, and the struct
    (of numbers) that it is; None for another type."""
    match t:
        case ScalarType():
            return t, 0, None
        case Struct(vector=True, members=((_, ScalarType() as first), *_)):
            return first, len(t.members), None
        case Struct(members=((_, ScalarType() as first), *_)) if not getattr(t.defined, "union", ()):
            return (first, 0, t) if all(isinstance(m, ScalarType) for _, m in t.members) else None
    return None
