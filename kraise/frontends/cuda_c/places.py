"""Places: reading, writing, members, elements, pointers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kraise.diagnostics import Span
from kraise.frontends.cuda_c.arithmetic import Arithmetic, add_offsets, cast, is_null, is_simple, signed
from kraise.frontends.cuda_c.branched import moved, unmoved
from kraise.frontends.cuda_c.c_types import AXES, Array, CType, Pointer, Struct
from kraise.frontends.cuda_c.copied import as_bits, joined, part_of
from kraise.frontends.cuda_c.packed import packed_element
from kraise.frontends.cuda_c.structs import static_member
from kraise.frontends.cuda_c.trees import Node
from kraise.frontends.cuda_c.unions import is_union_member, member_value, view
from kraise.frontends.cuda_c.values import (
    Alias,
    Bound,
    Cell,
    Constant,
    GlobalVariable,
    Lambda,
    Part,
    PointerPlace,
    PointerValue,
    StructPlace,
    StructValue,
    VarPlace,
    Word,
    held,
)
from kraise.ir.kernel import Assign, Atomic, Barrier, CallStmt, Const, Expr, For, If, Load, Op, Store, Var
from kraise.ir.types import BOOL, INT32, ScalarType

_ZERO = Const(0, INT32)


class Places(Arithmetic):
    """What can be read and written."""

    def read(self, place: Any, node: Node | None = None) -> Any:
        """The value of a place."""
        span = self.span(node) if node is not None else None
        match place:
            case VarPlace(name, t):
                return Var(name, t, span=span)
            case Cell(array, subscripts, t):
                if isinstance(t, ScalarType):
                    if place.stored is not None:
                        return as_bits(Load(array, subscripts, place.stored, span=span), t)
                    return Load(array, subscripts, t, span=span)
                if isinstance(t, Array):
                    return PointerValue(array, subscripts, None, t.of)
                if isinstance(t, Struct):
                    fields = tuple((n, self.read(self.member(place, n, node), node)) for n, _ in t.members)
                    return StructValue(t, fields)
                if isinstance(t, Pointer):
                    return PointerValue(array, subscripts, None, t.to)
            case StructPlace(t, fields):
                return StructValue(t, tuple((n, self.read(f, node)) for n, f in fields))
            case Part(pointer):
                return pointer
            case PointerPlace(which=which) if which:
                return self._one_of(place, which, node)
            case PointerPlace(name, _, value):
                if value is None:
                    raise self.refuse("KR207", f"the pointer `{name}` is used before it is set", node)
                return moved(value, place.offset_name, span) if place.offset_name else value
            case Constant(c):
                return replace(self.named(c), span=span)
            case Word(t, parts):
                return joined([self.read(p, node) for p in parts], t)
            case Alias(target):
                return self.read(target, node)
            case Bound(value):
                return value
            case ("arms", c, a, b):
                return self.select(c, self.read(a, node), self.read(b, node), span, node)
        raise self.refuse("KR299", f"`{self.text(node) if node is not None else ''}` cannot be read", node)

    def write(self, place: Any, value: Any, node: Node | None = None, span: Span | None = None) -> None:
        """Store ``value`` (converted) in a place."""
        span = span or (self.span(node) if node is not None else None)
        match place:
            case Alias(target):
                self.write(target, value, node, span)
            case VarPlace(name, t):
                self._assign(name, self.convert(value, t, node), t, span)
            case Cell(array, subscripts, t) if isinstance(t, ScalarType):
                self.writable(array, node)
                converted = self.convert(value, t, node)
                if place.stored is not None:
                    converted = as_bits(converted, place.stored)
                if array in self.volatile:
                    self._in_step(array, subscripts, converted, span)
                else:
                    self.emit(Store(array, subscripts, converted, span=span))
            case Cell(_, _, t) if isinstance(t, Struct):
                self._write_fields([(n, self.member(place, n, node)) for n, _ in t.members], value, t, node, span)
            case StructPlace(t, fields):
                self._write_fields(list(fields), value, t, node, span)
            case Word(t, parts):
                whole = self.convert(value, t, node)
                whole = whole if is_simple(whole) else self.temporary(whole, "word", node)
                for at, part in enumerate(parts):
                    assert isinstance(part.type, ScalarType)
                    self.write(part, part_of(whole, at * (part.type.bits or 64), part.type), node, span)
            case Cell(_, _, Array() as t) | Part(_, t) if isinstance(value, PointerValue):
                self._copy(place, value, t, node, span)
            case PointerPlace():
                self.write_pointer(place, value, node, span)
            case ("arms", c, a, b):
                with self.captured() as first:
                    self.write(a, value, node, span)
                with self.captured() as second:
                    self.write(b, value, node, span)
                self.emit(If(c, tuple(first), tuple(second), span=span))
            case Constant():
                raise self.refuse("KR104", "a constant is assigned", node)
            case _:
                raise self.refuse("KR299", f"`{self.text(node) if node is not None else ''}` cannot be assigned", node)

    def _in_step(self, array: str, subscripts: tuple[Expr, ...], value: Expr, span: Span | None) -> None:
        """A store to volatile shared memory. Warp-synchronous code (``s[t] += s[t + 16]`` with no barrier) counts on it
        that the lanes of a warp load, then store, in step: what ``__syncwarp`` between them says."""
        if not isinstance(value, Const | Var):
            name = self.fresh(f"{array}_value")
            self.names[name] = value.type
            self.emit(Assign(name, value, value.type, span=span))
            value = Var(name, value.type, span=span)
        self.emit(Barrier("warp", span=span))
        self.emit(Store(array, subscripts, value, span=span))
        self.emit(Barrier("warp", span=span))

    def _write_fields(self, fields: list, value: Any, t: Struct, node: Node | None, span: Span | None) -> None:
        value = self.convert(value, t, node)
        values = [v for _, v in value.fields]
        if len(fields) > 1:  # a = f(a): all members are read before one is written
            written = {f.name for _, f in fields if isinstance(f, VarPlace)}
            arrays = {f.array for _, f in fields if isinstance(f, Cell)}
            for k in range(1, len(values)):
                v = values[k]
                if not isinstance(v, StructValue | PointerValue) and _reads(v, written, arrays):
                    values[k] = self.temporary(v, "t")
        for (_, f), v in zip(fields, values, strict=True):
            self.write(f, v, node, span)

    def _assign(self, name: str, value: Expr, t: ScalarType, span: Span | None) -> None:
        """``name = value``; a call or an atomic that has just put it into a temporary writes the variable itself."""
        last = self.out[-1] if self.out else None
        if isinstance(value, Var) and value.type == t and self.names.get(value.name) == "taken":
            if isinstance(last, Atomic) and last.result == value.name:
                self.out[-1] = replace(last, result=name)
                return
            if isinstance(last, CallStmt) and last.results == (value.name,) and last.types == (t,):
                self.out[-1] = replace(last, results=(name,))
                return
        self.emit(Assign(name, value, t, span=span))

    def writable(self, array: str, node: Node | None) -> None:
        """Raises Refused (KR104) where ``array`` is a table of constants."""
        if self.program.is_table(array) and array not in self.names:
            raise self.refuse("KR104", f"the constant table `{array}` is assigned", node)

    def _copy(self, place: Cell | Part, source: PointerValue, t: Array, node: Node | None, span: Span | None) -> None:
        """An array member of a struct is copied with the struct: element by element."""
        if t.extent is None or source.target is not None:
            raise self.refuse("KR299", "this array cannot be copied", node)
        index = self.fresh("k")
        self.names[index] = INT32
        k = Var(index, INT32, span=span)
        with self.captured() as body:
            whole = place.subscripts if isinstance(place, Cell) else ()
            target = (
                self.element(place.pointer, k, node)
                if isinstance(place, Part)
                else Cell(place.array, (*whole, k), t.of)
            )
            self.write(target, self.read(self.element(source, k, node), node), node, span)
        stop = cast(signed(t.extent), INT32)
        self.emit(For(index, _ZERO, stop, Const(1, INT32), tuple(body), span=span))

    # --- parts

    def member(self, place: Any, name: str, node: Node | None = None) -> Any:
        """``place.name``."""
        match place:
            case Alias(target):
                return self.member(target, name, node)
            case Bound(StructValue(t, _)) | StructPlace(t, _) | Cell(_, _, t) if known := static_member(t, name):
                return known
            case Bound(StructValue(t, _) as value) if is_union_member(t, name):
                return Bound(member_value(self, value, name, node))
            case StructPlace(t, _) | Cell(_, _, t) if is_union_member(t, name):
                return view(self, place, t, name, node)  # type: ignore[arg-type]
            case Bound(value):
                found = value.field(name) if isinstance(value, StructValue) else None
                if found is None:
                    raise self.refuse("KR104", f"there is no member `{name}`", node)
                return Bound(found)
            case StructPlace(t, fields):
                for n, f in fields:
                    if n == name:
                        return f
                raise self.refuse("KR104", f"{t.name} has no member `{name}`", node)
            case Cell(array, subscripts, t) if isinstance(t, Struct):
                inner = t.member(name)
                if inner is None:
                    raise self.refuse("KR104", f"{t.name} has no member `{name}`", node)
                if t.vector:
                    return Cell(array, (*subscripts, Const(AXES.index(name), INT32)), inner)
                if isinstance(inner, Pointer):
                    raise self.refuse("KR299", "an array of structs that hold pointers is not raised", node)
                return Cell(f"{array}.{name}", subscripts, inner)
            case ("arms", c, a, b):
                return ("arms", c, self.member(a, name, node), self.member(b, name, node))
        raise self.refuse("KR104", f"`.{name}` is taken of something that is no struct", node)

    def used_as(self, shared: Any, element: CType, node: Node | None) -> None:
        raise NotImplementedError

    def element(self, pointer: PointerValue, index: Expr | None, node: Node | None = None) -> Any:
        """``pointer[index]``."""
        if pointer.arms is not None:
            c, a, b = pointer.arms
            if is_null(a) or is_null(b):  # who follows it knows that it points somewhere
                return self.element(b if is_null(a) else a, index, node)
            return ("arms", c, self.element(a, index, node), self.element(b, index, node))
        if pointer.target is not None:
            if index is None or (isinstance(index, Const) and index.value == 0):
                return pointer.target
            raise self.refuse("KR204", "a pointer to a single variable is subscripted", node)
        if not pointer.array:
            raise self.refuse("KR204", "a null pointer is followed", node)
        if pointer.bytes_of is not None:
            raise self.refuse(
                "KR299", "memory is read as another type than it was written as", node, "use an array of that type"
            )
        if pointer.raw is not None and pointer.packed >= 0:
            self.used_as(pointer.raw, held(pointer), node)
        if pointer.packed:
            return packed_element(self, pointer, index)
        where = add_offsets(pointer.offset, signed(index) if index is not None else None)
        subscripts = (*pointer.prefix, signed(where) if where is not None else _ZERO)
        return Cell(pointer.array, subscripts, pointer.to, pointer.stored)

    def address(self, place: Any, node: Node | None = None) -> PointerValue:
        """``&place``."""
        match place:
            case Alias(target):
                return self.address(target, node)
            case Cell(array, subscripts, t) if subscripts:
                offset = subscripts[-1]
                zero = isinstance(offset, Const) and offset.value == 0
                return PointerValue(array, subscripts[:-1], None if zero else offset, t, stored=place.stored)
            case VarPlace(_, t):
                return PointerValue("", (), None, t, target=place)
            case StructPlace(t, _) | Cell(_, _, t):
                return PointerValue("", (), None, t, target=place)
            case PointerPlace():
                return PointerValue("", (), None, place.type, target=place)
        raise self.refuse("KR299", "the address of this is not raised", node)

    # --- pointer variables

    def write_pointer(self, place: PointerPlace, value: Any, node: Node | None, span: Span | None) -> None:
        """``p = q``: the array stays the same, the offset moves; or another of those that change places."""
        if not isinstance(value, PointerValue):
            if isinstance(value, Const) and value.value == 0:
                value = PointerValue("", (), None, place.type.to)
            else:
                raise self.refuse("KR104", f"the pointer `{place.name}` is set from a number", node)
        if place.which:
            self.emit(Assign(place.which, self._which(place, value, node), INT32, span=span))
            return
        known = place.value
        if known is None or (not known.array and known.target is None and known.arms is None):
            place.value = value if not place.offset_name else replace(value, offset=None)
            if place.offset_name and value.array:
                self.emit(Assign(place.offset_name, self._offset(value), INT32, span=span))
            return
        same = (known.stored, known.packed, known.bytes_of) == (value.stored, value.packed, value.bytes_of)
        same = same and known.array == value.array and known.prefix == value.prefix and known.target is value.target
        if not same and self._from_here_on(place, value):
            place.value = replace(value, offset=None)
        elif known.arms is not None and place.offset_name and self._same_arms(known, value):
            value = _leaf(value)
        elif not same or not place.offset_name or value.arms is not None:
            raise self.refuse(
                "KR299",
                f"the pointer `{place.name}` is set to another array than the one it points into",
                node,
                "use one pointer for each array, or one array with an offset",
            )
        self.emit(Assign(place.offset_name, self._offset(value), INT32, span=span))

    def _same_arms(self, known: PointerValue, value: PointerValue) -> bool:
        """Whether a pointer into one of several arrays moves by the same in each of them."""
        whole, offsets = unmoved(value)
        return whole == known and len(offsets) == 1

    def _from_here_on(self, place: PointerPlace, value: PointerValue) -> bool:
        """Whether every statement before this one uses the pointer as it was, and every one after it as it will be: it
        is set among the statements that declare it, in no loop, branch or function that is called later."""
        later = any(isinstance(e, Lambda) for table in self.scopes for e in table.values())
        known = bool(value.array) and value.target is None and value.arms is None
        return bool(place.offset_name) and place.home is self.out and known and not later

    def rove(self, place: PointerPlace, among: tuple[str, ...], start: Any, node: Node | None) -> None:
        """Make a pointer one that changes places with others; ``start`` is what it begins with, if anything."""
        place.which, place.among = self.fresh(f"{place.name}_which"), among
        self.names[place.which] = INT32
        if place.name in among:
            place.value = start
        if start is not None:
            span = self.span(node) if node is not None else None
            self.emit(Assign(place.which, self._which(place, start, node), INT32, span=span))

    def _one_of(self, place: PointerPlace, which: str, node: Node | None) -> PointerValue:
        """What a pointer that changes places points to, as ``which`` says."""
        values = [self._among(place, name, node) for name in place.among]
        value = values[-1]
        for at in reversed(range(len(values) - 1)):
            chosen = Op("eq", (Var(which, INT32), Const(at, INT32)), BOOL)
            value = PointerValue("", (), None, place.type.to, arms=(chosen, values[at], value))
        return value

    def _among(self, place: PointerPlace, name: str, node: Node | None) -> PointerValue:
        entity = place if name == place.name else self.lookup(name)
        value = entity.value if isinstance(entity, PointerPlace) and entity.which else None
        if value is None and isinstance(entity, PointerPlace | Cell | Bound) and not getattr(entity, "which", ""):
            value = self.read(entity, node)
        if not isinstance(value, PointerValue) or value.arms is not None or not value.array:
            raise self.refuse("KR299", f"what `{place.name}` points to is not known here", node)
        return value

    def _which(self, place: PointerPlace, value: PointerValue, node: Node | None) -> Expr:
        """Which of those that ``place`` may point to ``value`` is."""
        if value.arms is not None:
            c, a, b = value.arms
            if isinstance(c, Op) and isinstance(c.args[0], Var) and value == self._one_of(place, c.args[0].name, node):
                return c.args[0]
            return Op("select", (c, self._which(place, a, node), self._which(place, b, node)), INT32)
        for at, name in enumerate(place.among):
            if (name != place.name or place.value is not None) and self._among(place, name, node) == value:
                return Const(at, INT32)
        reason = f"the pointer `{place.name}` is set to another array than those that it changes places with"
        raise self.refuse("KR299", reason, node)

    def _offset(self, value: PointerValue) -> Expr:
        return cast(signed(value.offset), INT32) if value.offset is not None else _ZERO

    # --- what a name stands for

    def entity_place(self, entity: Any, name: str, node: Node) -> Any:
        """The place (or constant) that an entity is."""
        if isinstance(entity, GlobalVariable):
            self.globals_used.setdefault(entity.name, entity)
            return entity.place
        return entity


def _leaf(value: PointerValue) -> PointerValue:
    """The first of the arrays that a pointer may point into."""
    return value if value.arms is None else _leaf(value.arms[1])


def _reads(e: Any, names: set[str], arrays: set[str]) -> bool:
    """Does an expression read one of these variables or arrays?"""
    match e:
        case Var(name):
            return name in names
        case Load(array, subscripts):
            return array in arrays or any(_reads(s, names, arrays) for s in subscripts)
        case Op(_, args):
            return any(_reads(a, names, arrays) for a in args)
        case _:
            arg = getattr(e, "arg", None)
            if arg is not None:
                return _reads(arg, names, arrays)
            return any(_reads(a, names, arrays) for a in getattr(e, "args", ()))


reads = _reads
