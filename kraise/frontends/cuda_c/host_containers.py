"""Containers of CUDA C host functions: ``std::vector``, ``thrust::device_vector``, ``thrust::device_ptr``."""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from kraise.frontends.cuda_c.c_types import CONTAINERS, Container, CType, Pointer, Reference, Void
from kraise.frontends.cuda_c.host_names import callee, normal
from kraise.frontends.cuda_c.library_call import LibraryCall
from kraise.frontends.cuda_c.library_table import Row
from kraise.frontends.cuda_c.library_views import note_place
from kraise.frontends.cuda_c.trees import kind, strip, tokens, trees
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT32


class Containers:
    """The part of the reader that knows containers. ``containers`` are the names that own their memory: an assignment
    copies."""

    low: Any
    arrays: dict[str, CType]
    containers: set[str]
    made: set[str]  # containers whose memory exists
    members_made: set[str]  # those that a constructor makes
    array: Any
    number: Any
    alloc: Any
    drop: Any
    member: Any
    pointer_name: Any
    hosts: dict[str, tuple[bool, ...]]
    inlines: Any
    inline: Any
    arguments: Any
    given_by: Any
    racked: Any
    _helper: Any
    call: Any
    assign_pointer: Any

    def vector_of(self, node: Tree) -> CType | None:
        """The element type of ``std::vector<T>`` and its kin, None for another type."""
        names = {str(t) for t in tokens(node)}
        if not names & set(CONTAINERS) or "iterator" in names:
            return None
        arguments = next((t for t in node.iter_subtrees() if t.data == "template_argument"), None)
        inner = next((t for t in arguments.iter_subtrees() if t.data == "type_id"), None) if arguments else None
        found = self.low.type_id(inner) if inner is not None else None
        return None if isinstance(found, Void) else found  # std::vector<cudaEvent_t>

    def host_vector(self, name: str, element: CType, initial: list[Tree], node: Tree, owns: bool) -> list[h.Stmt]:
        """``std::vector<float> v(n)``, ``v(n, x)``, ``v(first, last)``, ``thrust::device_vector<float> d = h``; what
        does not own its memory (``thrust::device_ptr``) points."""
        span = self.low.span(node)
        self.array(name, element)
        initial = [i if kind(i) == "braced_init_list" else strip(i) for i in initial]  # type: ignore[misc]
        args = [c for i in initial for c in (trees(i) if kind(i) == "braced_init_list" else [i])]
        if not owns:
            at = self._call(node).iterator(args[0]) if args else None
            if at is None:
                return []
            note_place(self, name, k.ArrayRef(at.array, at.offset))
            return [h.Point((name,), (k.ArrayRef(at.array, at.offset, span=span),), span=span)]
        self.containers.add(name)
        if not args:
            return []
        self.made.add(name)
        if initial and kind(initial[0]) == "braced_init_list":
            values = [self.low.convert(self.number(a), element, a) for a in args]
            made: list[h.Stmt] = [self.alloc(name, k.Const(len(values), INT32), k.Const(0, INT32), span)]
            return made + [h.Store(name, (k.Const(n, INT32),), v, span=span) for n, v in enumerate(values)]
        if (given := self.container_given(name, args, node)) is not None:
            return given
        source = self.pointer_name(args[0])
        if source and len(args) == 1:
            return [h.Bind(name, h.Whole(source, span=span), span=span)]
        if len(args) == 2 and (source or self._points(args[0])):
            row = Row("vector", ("first", "last"), {"X": "range(first, last)"})
            view = LibraryCall(self, row, args, node).look("X")
            return [h.Bind(name, view.value(), span=span)]  # type: ignore[union-attr]
        fill = self.number(args[1]) if len(args) > 1 else k.Const(0, INT32)
        return [self.alloc(name, normal(self.number(args[0])), fill, span)]

    def container_given(self, name: str, values: list[Tree], node: Tree) -> list[h.Stmt] | None:
        """``std::vector<float> r = solve(x, n)``: what a function of the file gives; None for another value."""
        call: Any = strip(values[0])
        if len(values) > 1 or kind(call) != "call_expression" or self.pointer_name(call):
            return None
        own = callee(call.children[0])
        if not self.inlines(call) and self.hosts.get(own) == (True,):
            return [h.CallHost(own, self.arguments(call), (name,), (True,), span=self.low.span(node))]
        if self.inlines(call) or self._helper(call) is not None:
            given = self.given_by(call)
            if isinstance(given, Pointer) or (isinstance(given, Reference) and isinstance(given.to, Container)):
                target = Tree("id_expression", [Token("NAME", name)], node.meta)
                return self.inline(call, target)  # type: ignore[no-any-return]
        return None

    def _call(self, node: Tree) -> LibraryCall:
        return LibraryCall(self, Row("vector", (), {}), [], node)

    def _points(self, node: Tree) -> bool:
        return (
            any(str(t) in self.arrays for t in tokens(node))
            and "size" not in {str(t) for t in tokens(node)}
            and ("[" not in {str(t) for t in tokens(node)})
        )

    def assign_container(self, name: str, value: Any, node: Tree) -> list[h.Stmt]:
        """``d = h``: a copy of all elements."""
        source = self.pointer_name(value)
        if not source and (given := self.container_given(name, [value], node)) is not None:
            self.made.add(name)
            return given
        if not source and node is not None and name in self.members_made:  # host_(n) of a constructor
            self.members_made.discard(name)
            self.made.add(name)
            return [self.alloc(name, normal(self.number(value)), k.Const(0, INT32), self.low.span(node))]
        if not source:
            raise self.low.refuse("KR211", f"`{self.low.text(value)}` is no container that is known here", node)
        span = self.low.span(node)
        self.made.add(name)
        return [h.Bind(name, h.Whole(source, span=span), span=span)]

    def container_call(self, method: Any, args: list[Tree], node: Tree) -> list[h.Stmt] | None:
        """``v.resize(n)``, ``v.assign(n, x)``, ``a.swap(b)``; None for the method of another thing."""
        word = self.member(method)
        if (made := self.racked(callee(trees(method)[0]), word, args, node)) is not None:
            return made  # type: ignore[no-any-return]
        name = self.pointer_name(trees(method)[0])
        span = self.low.span(node)
        if name and name not in self.containers and word == "swap" and len(args) == 1:  # of std::unique_ptr
            swapped = Tree("id_expression", [Token("NAME", "swap")], node.meta)
            return self.call(Tree("call_expression", [swapped, trees(method)[0], *args], node.meta))  # type: ignore[no-any-return]
        if name and name not in self.containers and word == "reset":
            value = args[0] if args else Tree("null_pointer", [Token("NULLPTR", "nullptr")], node.meta)
            return self.assign_pointer(name, value, node)  # type: ignore[no-any-return]
        if not name or name not in self.containers:
            return None
        if word in ("reserve", "shrink_to_fit"):
            return self.drop(node, "memory management")
        if word == "swap" and len(args) == 1 and (other := self.pointer_name(args[0])):
            return [h.Point((name, other), (k.ArrayRef(other), k.ArrayRef(name)), span=span)]
        if word == "assign" and len(args) == 2:
            self.made.add(name)
            return [self.alloc(name, normal(self.number(args[0])), self.number(args[1]), span)]
        if word == "resize" and name not in self.made and args:
            self.made.add(name)
            fill = self.number(args[1]) if len(args) > 1 else k.Const(0, INT32)
            return [self.alloc(name, normal(self.number(args[0])), fill, span)]
        hint = "make the container with its size"
        raise self.low.refuse("KR213", f"`{word}` of a container is not known in a host function", node, hint)
