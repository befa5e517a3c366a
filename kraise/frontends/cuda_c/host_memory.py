"""Memory of CUDA C host functions: allocations, copies, containers."""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.diagnostics import Diagnostic
from kraise.frontends.cuda_c import host_times
from kraise.frontends.cuda_c.c_types import CType, Struct, leaf
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.host_names import callee, concept, elements, normal, product, size_of
from kraise.frontends.cuda_c.host_symbols import Symbols
from kraise.frontends.cuda_c.numbers import wrap
from kraise.frontends.cuda_c.program import Program
from kraise.frontends.cuda_c.trees import Node, child, kind, strip, tokens, trees
from kraise.frontends.cuda_c.values import VarPlace
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.rename import within
from kraise.ir.types import INT32

_BODY = 3  # scopes that are open in the statements of the function itself, in no block of it
ZERO, ONE = k.Const(0, INT32), k.Const(1, INT32)


class Memory(Symbols):
    """The part of the reader that knows memory; :class:`kraise.frontends.cuda_c.host.HostReader` has the rest."""

    program: Program
    low: Any
    settable: Any
    functions: dict[str, k.Function]
    hosts: dict[str, tuple[bool, ...]]
    arrays: dict[str, CType]
    dims: dict[str, tuple[k.Expr, ...]]
    definitions: dict[str, k.Expr]
    ignored: set[str]
    null: set[str]
    storage: set[str]
    records: dict[str, dict[str, str]]
    converted: Any
    packs: dict[str, tuple[Node, ...]]
    problems: list[Diagnostic]
    outlined: list[k.Function]
    name: str
    array: Any
    scalar: Any
    number: Any
    store: Any
    pointer: Any
    truth: Any
    drop: Any
    is_ignored: Any
    ignore: Any
    read_outside: Any
    forget: Any
    unset: set[str]
    single: set[str]
    rows_in: Any
    extents_in: Any
    inputs: dict[str, Any]
    plain: dict[str, k.Function | None]
    refused: dict[str, list[Diagnostic]]
    copied: dict[str, None]
    printed: dict[str, None]
    managed: dict[str, None]
    arguments_of_main: set[str]

    def pointer_name(self, node: Node) -> str:
        """The array that an expression names as a whole, "" where it names none."""
        node = strip(node)
        if isinstance(node, Tree) and node.data in ("cast_expression", "cxx_cast_expression"):
            return self.pointer_name(trees(node)[-1])
        if isinstance(node, Tree) and node.data == "unary_expression" and str(node.children[0]) == "&":
            inner = strip(node.children[1])
            if kind(inner) == "subscript_expression" and self.low.text(trees(inner)[1]) == "0":  # type: ignore[arg-type]
                return self.pointer_name(trees(inner)[0])  # type: ignore[arg-type]
            return self.pointer_name(inner)
        name = callee(node)
        return name if name in self.arrays else self.owner(node)

    def owner(self, node: Node) -> str:
        """The container of ``v.data()``, ``&v[0]`` of one, ``thrust::raw_pointer_cast(v.data())``; "" otherwise."""
        node = strip(node)
        if callee(node) in self.records:
            return self.converted(callee(node))  # type: ignore[no-any-return]
        if not isinstance(node, Tree) or node.data != "call_expression":
            return ""
        if concept(callee(node.children[0])) == "pointer" or (
            callee(node.children[0]) == "move" and len(trees(node)) == 2
        ):
            return self.pointer_name(trees(node)[1])
        method = strip(node.children[0])
        if kind(method) == "member_expression" and self.member(method) in ("data", "begin", "get"):
            return self.pointer_name(trees(method)[0])  # type: ignore[arg-type]
        return ""

    def member(self, node: Any) -> str:
        """The member that a member expression names."""
        found = child(node, "member_name")
        return str(found.children[0]) if found is not None else ""

    def count(self, node: Node, element: CType, what: Node) -> k.Expr:
        """Bytes as a number of elements."""
        size = size_of(element)
        found = elements(self.number(node), size, self.definitions) if size else None
        if found is None:
            reason = f"`{self.low.text(node)}` is no number of bytes of a whole number of elements by its form"
            raise self.low.refuse("KR211", reason, what, "write it as n * sizeof(type)")
        return found

    def alloc(self, name: str, count: k.Expr, fill: k.Expr | None, span: Any) -> h.Alloc:
        """New memory of ``count`` elements."""
        kind_of = self.arrays[name]
        element, axes = leaf(kind_of)
        assert element is not None
        shape = (count, k.Const(len(kind_of.members), INT32)) if axes and isinstance(kind_of, Struct) else (count,)
        return h.Alloc(name, element, shape, fill, span=span)

    def malloc(self, args: list[Tree], node: Tree) -> list[h.Stmt]:
        """``cudaMalloc(&p, bytes)``."""
        name = self.pointer_name(args[0])
        if not name:
            storage = {str(t) for t in tokens(args[0])} & self.storage
            if storage:  # the temporary storage of a library
                self.null -= storage
                return self.drop(node, "memory management")
            raise self.low.refuse("KR211", f"`{self.low.text(args[0])}` is no pointer to numbers", node)
        self.settable(name, node)
        if "Managed" in callee(node.children[0]):
            self.managed[name] = None
        return [self.alloc(name, self.count(args[1], self.arrays[name], node), None, self.low.span(node))]

    def malloc_pitch(self, args: list[Tree], node: Tree) -> list[h.Stmt]:
        """``cudaMallocPitch(&p, &pitch, width, height)``: rows without padding; a program does not depend on it."""
        name, pitch = self.pointer_name(args[0]), self.number_at(args[1])
        if not name or pitch is None:
            raise self.low.refuse("KR211", f"`{self.low.text(args[0])}` is no pointer to numbers", node)
        span = self.low.span(node)
        width = self.number(args[2])
        self.definitions[pitch.name] = width
        count = product(self.count(args[2], self.arrays[name], node), normal(self.number(args[3])))
        wide = self.low.convert(width, pitch.type, node)
        return [h.Assign(pitch.name, wide, pitch.type, span=span), self.alloc(name, count, None, span)]

    def memcpy_2d(self, args: list[Tree], node: Tree) -> list[h.Stmt]:
        """``cudaMemcpy2D(to, pitch, from, pitch, width, height)`` of whole rows."""
        to, origin = self.pointer(args[0]), self.pointer(args[2])
        element = self.arrays[to.array]
        counts = {repr(self.count(args[n], element, node)): n for n in (1, 3, 4)}
        if len(counts) > 1:
            raise self.low.refuse("KR213", "only a copy of whole rows is known here", node, "copy flat memory")
        count = product(self.count(args[4], element, node), normal(self.number(args[5])))
        whole = h.Whole(origin.array, origin.offset, count, span=self.low.span(node))
        if any("ToHost" in str(t) for t in tokens(node)):
            self.copied[to.array] = None
        return [h.Update(to.array, whole, to.offset, count, span=self.low.span(node))]

    def memcpy(self, args: list[Tree], node: Tree) -> list[h.Stmt]:
        """``cudaMemcpy(to, from, bytes, …)`` between arrays, or an array and a number."""
        span = self.low.span(node)
        if self.addressed(args[1]) in self.ignored:
            name = self.addressed(args[0])
            name = "" if name in self.arrays else name
            self.ignore(name, args[1])
            mark = [] if name else [host_times.marked(self.pointer(args[0]).array, span)]
            return [*mark, *self.drop(node, "timing or a stream")]
        to, source = self.number_at(args[0]), self.number_at(args[1])
        back = any("ToHost" in str(t) for t in tokens(node))
        if to is not None:
            place = self.pointer(args[1])
            self.forget(to.name)
            self.unset.discard(to.name)
            if back:
                self.copied[to.name] = None
            value = k.Load(
                place.array, (place.offset or ZERO,), leaf(self.arrays[place.array])[0] or to.type, span=span
            )
            return [h.Assign(to.name, value, to.type, span=span)]
        target = self.pointer(args[0])
        if source is not None:
            return [h.Store(target.array, (target.offset or ZERO,), k.Var(source.name, source.type), span=span)]
        origin = self.pointer(args[1])
        if back:
            self.copied[target.array] = None
        count = self.count(args[2], self.arrays[target.array], node)
        whole = h.Whole(origin.array, origin.offset, count, span=span)
        return [h.Update(target.array, whole, target.offset, count, span=span)]

    def given_again(self, target: Node, name: str, value: Node, node: Node) -> list[h.Stmt]:
        """``size = n * sizeof(float)``: kept as what it is made of, where that is sure."""
        number = self.number(value)
        stored: list[h.Stmt] = self.store(target, number, node)
        surely = len(self.low.scopes) == _BODY and isinstance(self.low.lookup(name) if name else None, VarPlace)
        if surely and not any(v.name == name for v in within(number, k.Var)) and not within(number, k.Load):
            self.definitions[name] = number
        return stored

    def number_at(self, node: Node) -> VarPlace | None:
        """The scalar variable of ``&x``."""
        found = self.low.lookup(own) if (own := self.addressed(node)) else None
        return found if isinstance(found, VarPlace) else None

    def addressed(self, node: Node) -> str:
        """``x`` of ``&x``, "" for another expression."""
        node = strip(node)
        if isinstance(node, Tree) and node.data in ("cast_expression", "cxx_cast_expression"):
            return self.addressed(trees(node)[-1])
        is_address = isinstance(node, Tree) and node.data == "unary_expression" and str(node.children[0]) == "&"
        return callee(node.children[1]) if is_address else ""  # type: ignore[union-attr]

    def memset(self, args: list[Tree], node: Tree) -> list[h.Stmt]:
        """``cudaMemset(p, 0, bytes)``; another byte is a number of integers only (``0xff``: -1)."""
        target = self.pointer(args[0])
        value = self.number(args[1])
        element = self.arrays[target.array]
        if not (isinstance(value, k.Const) and value.value == 0) and size_of(element) != 1:
            of, axes = leaf(element)
            known = fold(value)
            if known is None or of is None or axes or of.kind not in ("int", "uint"):
                reason = "memory is set to a byte other than 0"
                raise self.low.refuse("KR211", reason, node, "fill the array in a kernel")
            byte = int(known.value.real) & 0xFF
            value = wrap(int.from_bytes(bytes([byte]) * size_of(element), "little"), of)
        count = self.count(args[2], element, node)
        return [h.Update(target.array, value, target.offset, count, span=self.low.span(node))]
