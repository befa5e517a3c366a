"""Calls of CUDA C host functions: the runtime's, launches, swaps, assignments, containers."""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from kraise.frontends.cuda_c import (
    host_graphs,
    host_helpers,
    host_main,
    host_quiet,
    host_statuses,
    host_times,
)
from kraise.frontends.cuda_c.c_types import leaf, other_type
from kraise.frontends.cuda_c.host_asides import Asides, run_once
from kraise.frontends.cuda_c.host_containers import Containers
from kraise.frontends.cuda_c.host_inline import Inlining
from kraise.frontends.cuda_c.host_launches import Launches
from kraise.frontends.cuda_c.host_library import GENERATES, Libraries
from kraise.frontends.cuda_c.host_names import (
    callee,
    concept,
    dropped,
    elements,
    leftmost,
    normal,
    product,
    rows_of,
    size_of,
)
from kraise.frontends.cuda_c.host_news import made_new
from kraise.frontends.cuda_c.host_own_loops import OwnLoops
from kraise.frontends.cuda_c.host_plain import Plain
from kraise.frontends.cuda_c.library_views import note_place
from kraise.frontends.cuda_c.trees import Node, kind, strip, tokens, trees
from kraise.frontends.cuda_c.values import VarPlace
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import expression_names
from kraise.ir.types import INT32

_RUNTIME = ("cuda", "cusparse", "cusolver", "cudnn", "curand", "nccl")
ZERO, ONE = k.Const(0, INT32), k.Const(1, INT32)


class Calls(OwnLoops, Asides, Plain, Launches, Libraries, Containers, Inlining):
    """The part of the reader that knows the runtime; :class:`kraise.frontends.cuda_c.host.HostReader` has the rest."""

    extent_member: Any
    dims: dict[str, Any]
    dim3_again: Any
    extents_in: Any
    unset_dims: set[str]
    grids: dict[str, str]
    grid_given: Any
    row_given: Any
    alike: Any
    kinds: Any
    vector_given: Any
    struct_given: Any
    dim3: Any
    statement: Any
    tied: Any
    handed: set[str]
    plainly_assigned: Any
    settable: Any
    swapped: Any
    forget: Any
    _spells_null: Any

    # --- effects

    def effect(self, node: Any) -> list[h.Stmt]:
        """An expression for its effects."""
        node = strip(node)
        span = self.low.span(node)
        match kind(node):
            case "launch_expression":
                return [self.launch(node)]
            case "call_expression":
                once = run_once(node)
                return self.statement(once) if once is not None else self.call(node)
            case "comma_expression":
                return [s for c in trees(node) for s in self.effect(c)]
            case "assignment_expression":
                return self.assignment(node)
            case "unary_expression" | "postfix_expression" if {"++", "--"} & {str(c) for c in node.children}:
                inner = next(c for c in node.children if isinstance(c, Tree))
                sign = "+" if "++" in {str(c) for c in node.children} else "-"
                return self.store(inner, self.low.binary(sign, self.low.value(inner), ONE, span, node), node)
            case "cast_expression" if "void" in self.low.text(node).split(")")[0]:
                return self.kept(trees(node)[-1])
            case "shift_expression" if dropped(callee(leftmost(node))):
                before = [s for c in trees(node) for s in self.kept(c)]
                self.says(node)
                return before + self.drop(node, "printing")
            case "delete_expression":
                return self.drop(node, "memory management")
        if kind(node) in ("id_expression", "number", "string"):
            return []
        raise self.low.refuse("KR211", f"`{self.low.text(node)}` is not known in a host function", node)

    def call(self, node: Tree) -> list[h.Stmt]:
        """A call that stands alone."""
        name = callee(node.children[0])
        args = trees(node)[1:]
        span = self.low.span(node)
        if self.name == "main" and name.startswith(GENERATES) and (own := self.pointer_name(args[1])):
            return self.filled(own, node)
        library = self.library_effect(name, args, node)
        if library is not None:
            return library
        defined = name in self.program.functions and "::" not in self.low.text(node.children[0])
        match "" if defined else concept(name):
            case "malloc":
                return self.malloc(args, node)
            case "memcpy":
                return self.memcpy(args, node)
            case "memset":
                return self.memset(args, node)
            case "swap" if all(owners := [self.record_of(a) for a in args]):
                return self.swapped(owners[0], owners[1], node)  # type: ignore[no-any-return]
            case "swap":
                names = [self.pointer_name(a) for a in args]
                self.alike(args, node)
                for n, a in zip(names, args, strict=True):
                    self.settable(n, a)
                if all(names):
                    refs = tuple(k.ArrayRef(n, span=span) for n in reversed(names))
                    return [h.Point(tuple(names), refs, span=span)]
                one, two = (self.low.value(a) for a in args)
                own = self.own_name(next(str(t) for t in tokens(args[0]) if t.type == "NAME") + "_before")
                return [
                    h.Assign(own, one, one.type, span=span),
                    *self.store(args[0], two, node),
                    *self.store(args[1], k.Var(own, one.type), node),
                ]
            case "launch":
                return [self.launch_call(args, node)]
            case "launch.api":
                return [self.launch_api(args, node)]
            case "memcpy.to_symbol":
                return self.to_symbol(args, node)
            case "memcpy.from_symbol":
                return self.from_symbol(args, node)
            case "memcpy.2d":
                return self.memcpy_2d(args, node)
            case "malloc.pitch":
                return self.malloc_pitch(args, node)
            case "graph.begin" | "graph.end" | "graph.make" | "graph.run" as what:
                return [host_graphs.mark(self.low, what, args, node)]  # type: ignore[list-item]
            case "pointer.device":  # cudaHostGetDevicePointer(&d, h, 0): the same memory
                if name := self.pointer_name(args[0]):
                    return self.assign_pointer(name, args[1], node)
        if name == "assert" and (tested := self.runtime_call(args[0])) is not None:  # assert(cudaMalloc(…) == 0)
            return self.effect(tested)
        if self.is_dropped(name):
            return self.left_out(name, args, node)
        calls = any(any(a.find_data(t)) for a in args for t in ("call_expression", "launch_expression"))
        if name in self.program.functions and not calls and self.only_says(name):
            return self.drop(node, "printing or a check")
        if self.inlines(node):
            return self.inline(node, None)
        if name in self.hosts:
            left, _ = self.unused(node)
            return [h.CallHost(name, self.arguments(node), left, (False,) * len(left), span=span)]
        method = strip(node.children[0])
        if kind(method) == "member_expression":
            changed = self.container_call(method, args, node)
            if changed is not None:
                return changed
        if not defined and (read := self.read_in(name, args, node)) is not None:
            return read
        inner = [c for a in args if (c := self.runtime_call(a)) is not None]
        if inner:  # a function that checks what a call of the runtime returns
            return [s for c in inner for s in self.effect(c)]
        known = name in self.program.functions
        if self.is_plain(node):
            return self.plain_call(node, (), None)
        if known and self.only_says(name):
            return [*(s for a in args for s in self.kept(a)), *self.drop(node, "printing or a check")]
        own = kind(method) == "member_expression" and self.member(method) in host_quiet.methods(self.program)
        hidden = {str(t) for t in tokens(node)} & self.aliases
        if (
            not known
            and not hidden
            and not own  # a method of the file's
            and (name or kind(method) == "member_expression")  # no lambda that is called where it stands
            and name not in self.functors
            and not name.startswith(_RUNTIME)  # cudaMemcpy3D(&parameters), cudaGraphAddKernelNode(&node, graph, …)
            and all(self.is_ignored(a) or kind(strip(a)) in ("string", "number") for a in args)
        ):
            return self.drop(node, "error check")
        hint = "those known here are in grammar/host_library.toml; another file's are, if it is given (with --entry)"
        if own:
            hint = "the file has such a method: the class of the object is not known here, or has several of this name"
        reason = f"the call of {self.low.text(node.children[0])} is not known in a host function"
        raise self.low.refuse("KR213", reason, node, hint)

    # --- assignments

    def assignment(self, node: Tree) -> list[h.Stmt]:
        """``target = value`` and its compound forms."""
        target, operator, value = node.children[0], node.children[1], node.children[2]
        symbol = str(operator.children[0]) if isinstance(operator, Tree) else str(operator)
        if isinstance(operator, Tree) and isinstance(operator.children[0], Tree):
            symbol = str(operator.children[0].children[0])
        name = callee(target)
        if symbol == "=" and kind(strip(target)) == "call_expression" and callee(target.children[0]) == "tie":  # type: ignore[union-attr]
            return self.tied(trees(target)[1:], value, node)  # type: ignore[no-any-return,arg-type]
        chained: Any = strip(value)
        if kind(chained) == "assignment_expression" and self.again(chained.children[0]) and name not in self.arrays:
            last = Tree("assignment_expression", [target, operator, chained.children[0]], node.meta)
            return [*self.assignment(chained), *self.assignment(last)]  # h[1] = h[2] = 1
        if symbol == "=":
            if name in self.grids:
                return self.grid_given(name, value, node)
            if self.grids and (row := self.row_given(target, value, node)) is not None:
                return row
            if self.record_of(target) and self.record_of(value):
                self.plainly_assigned(self.record_of(target), node)
                return self.copied_record(self.record_of(target), self.record_of(value), node)
            if name in self.records and self.kinds[name].vector:
                return self.vector_given(name, value, node)  # type: ignore[no-any-return]
            owner = self.record_of(target)
            if owner and (made := self.struct_given(owner, value, node)) is not None:
                return made  # type: ignore[no-any-return]
            given = host_main.parsed(self, value)  # n = getCmdLineArgumentInt(argc, argv, "n")
            if self.inlines(value) and not given:
                return self.inline(value, target)
            if name in self.containers:
                return self.assign_container(name, value, node)
            if name in self.dims:
                return self.dim3_again(name, value, node)  # type: ignore[no-any-return]
            if name in self.arrays:
                return self.assign_pointer(name, value, node)
            if name in self.storage and self.low.text(value) in ("NULL", "0", "nullptr"):
                self.null.add(name)
                return []
            if (tested := host_statuses.given(self, name, value)) is not None:
                return tested
            inner = self.runtime_call(value)
            if inner is not None:
                self.ignored.update([name] if name else [])
                return self.effect(inner)
            if (of := host_main.root(target)[0]) in self.ignored and kind(strip(target)) == "member_expression":
                before = self.kept(value)  # location.type = cudaMemLocationTypeDevice
                self.ignore(of, value)
                return [*before, *self.drop(node, "an object without a part in the values")]
            if kind(strip(target)) == "member_expression":
                return self.extent_member(strip(target), value, node)
            place = self.low.lookup(name) if name else None
            if isinstance(place, VarPlace):
                self.forget(name)
                self.unset.discard(name)
            if isinstance(place, VarPlace) and (read := self.read_outside(name, place.type, value, node)) is not None:
                return read
            if self.is_ignored(value) or (name in self.ignored and not isinstance(self.low.lookup(name), VarPlace)):
                return self.unfollowed_store(target, value, node)
            self.ignored.discard(name)
            called = strip(value)
            if kind(called) == "call_expression" and callee(called.children[0]) in self.hosts:  # type: ignore[union-attr]
                own = callee(called.children[0])  # type: ignore[union-attr]
                return [h.CallHost(own, self.arguments(called), (name,), (False,), span=self.low.span(node))]
            if self.is_plain(called) and isinstance(place, VarPlace):
                return self.plain_call(called, (name,), place.type)
            if isinstance(place, VarPlace) and self.is_unknown(value):
                self.ignore(name, value)
                return self.drop(node, "a call that is not known here")
            return self.given_again(target, name, value, node)
        if self.is_ignored(value) or name in self.ignored:
            return self.unfollowed_store(target, value, node)
        if name in self.arrays:  # p += n
            self.settable(name, node)
            moved = self.low.binary(symbol[:-1], ZERO, self.number(value), None, node)
            return [h.Point((name,), (k.ArrayRef(name, normal(moved)),), span=self.low.span(node))]
        current = self.low.value(target)
        result = self.low.binary(symbol[:-1], current, self.low.value(value), self.low.span(node), node)
        if kind(strip(target)) == "member_expression" and callee(trees(strip(target))[0]) in self.dims:  # type: ignore[arg-type]
            return self.extent_member(strip(target), self.extents_in(result), node)  # type: ignore[no-any-return]
        return self.store(target, result, node)

    def unfollowed_store(self, target: Node, value: Node, node: Node) -> list[h.Stmt]:
        """A value that is not followed goes into a variable, or into memory, which is not followed either."""
        before = self.kept(value)
        self.ignore(callee(target), value)
        return [*before, *host_times.stored_to(self, target, node), *self.drop(node, "timing or a stream")]

    def ignore(self, name: str, value: Node) -> None:
        """A name whose value is not followed. If it is made of data, it is no time and no status: it is lost."""
        words = {str(t) for t in tokens(value)}
        if not name:
            if words & self.unknown:
                reason = f"the value of {min(words & self.unknown)} is not known here"
                raise self.low.refuse("KR211", reason, value, "compute it in a kernel, or by a call that is known")
            return
        self.ignored.add(name)
        hides = kind(strip(value)) == "lambda_expression" or self.pointer_name(value) or callee(value) in self.aliases
        self.aliases |= {name} if hides else set()
        called = kind(strip(value)) == "call_expression"
        numbers = {w for w in words - self.ignored if isinstance(self.low.lookup(w), VarPlace)} if called else set()
        if words & (set(self.arrays) | self.unknown) or numbers:
            self.unknown.add(name)

    def store(self, target: Any, value: Any, node: Node) -> list[h.Stmt]:
        """A number into a variable or an element."""
        span = self.low.span(node)
        target = strip(target)
        name = callee(target)
        place = self.low.lookup(name) if name else None
        if isinstance(place, VarPlace):
            if any(name in expression_names(e) for sizes, batch in self.plans.values() for e in (*sizes, batch)):
                raise self.low.refuse(
                    "KR211", f"{name} is the size of a plan and changes", node, "use another variable"
                )
            self.forget(name)
            self.unset.discard(name)
            converted = self.low.convert(value, place.type, node)
            if self.named_result(name, converted, place.type):
                return []
            return [h.Assign(name, converted, place.type, span=span)]
        if kind(target) in ("subscript_expression", "unary_expression"):
            found = self.low.scalar(target)
            if isinstance(found, k.Load) and found.array in self.arrays:
                converted = self.low.convert(value, found.type, node)
                if self.rows_in(found.array):
                    found = self.extents_in(found)
            if isinstance(found, k.Load) and found.array in self.arrays and len(found.subscripts) == 1:
                return [h.Store(found.array, tuple(normal(s) for s in found.subscripts), converted, span=span)]
        hint = "make a variable of the file a parameter or a local variable" if name else "store in a kernel"
        raise self.low.refuse(
            "KR211", f"a store to `{self.low.text(target)}` is not known in a host function", node, hint
        )

    def assign_pointer(self, name: str, value: Any, node: Node) -> list[h.Stmt]:
        """``p = q``, ``p = q + n``, ``p = (float *)malloc(bytes)``, ``p = new float[n]``, ``p = nullptr``."""
        self.settable(name, node)
        span = self.low.span(node)
        inner = strip(value)
        while kind(inner) in ("cast_expression", "cxx_cast_expression", "functional_cast"):
            inner = strip(trees(inner)[-1])  # type: ignore[arg-type]
        if self._spells_null(inner):
            return []
        members = {own for parts in self.records.values() for own in parts.values()}
        text = kind(inner) == "string" and name not in self.handed
        if str(self.arrays[name]) == "int8" and (text or (name in members and self.is_ignored(inner))):
            self.ignored.add(name)
            return self.drop(node, "text")
        if isinstance(inner, Tree) and inner.data == "assignment_expression":  # p = q = nullptr
            chained = [*self.effect(inner)]
            last: Any = inner
            while kind(last) == "assignment_expression":
                last = strip(last.children[2])
            if self._spells_null(last):
                return chained
            return [*chained, *self.assign_pointer(name, inner.children[0], node)]
        if kind(inner) == "new_expression":
            return made_new(self, name, inner, node)  # type: ignore[arg-type]
        if kind(inner) == "call_expression":
            if callee(inner.children[0]) == "unique_ptr" and len(trees(inner)) == 2:  # type: ignore[union-attr,arg-type]
                return self.assign_pointer(name, trees(inner)[1], node)  # type: ignore[arg-type]
            if callee(inner.children[0]) in ("make_unique", "make_shared"):  # type: ignore[union-attr]
                count = [normal(self.number(a)) for a in trees(inner)[1:]]  # type: ignore[arg-type]
                if len(count) != 1:
                    raise self.low.refuse("KR211", f"`{self.low.text(inner)}` is no array", node)
                return [self.alloc(name, count[0], k.Const(0, INT32), span)]
            made = concept(callee(inner.children[0]))  # type: ignore[union-attr]
            args = trees(inner)[1:]  # type: ignore[arg-type]
            if made == "host.malloc":
                bytes_of = args[-1] if callee(inner.children[0]) == "aligned_alloc" else args[0]  # type: ignore[union-attr]
                return [self.alloc(name, self.count(bytes_of, self.arrays[name], node), None, span)]
            if rows_of(self.arrays[name]) and host_helpers.allocates(self.program, callee(inner.children[0])):  # type: ignore[union-attr]
                self.single.add(name)  # room for one, at least
                return [self.alloc(name, product(*rows_of(self.arrays[name])), None, span)]
            if made == "host.calloc":
                bytes_ = self.low.binary("*", self.number(args[0]), self.number(args[1]))
                found = elements(bytes_, size_of(self.arrays[name]), self.definitions)
                if found is None:
                    raise self.low.refuse("KR211", "no whole number of elements by its form", node)
                return [self.alloc(name, found, k.Const(0, INT32), span)]
        if kind(inner) == "conditional_expression":
            parts = trees(inner)  # type: ignore[arg-type]
            test = self.truth(parts[0])
            sides = [tuple(self.assign_pointer(name, p, node)) for p in parts[1:3]]
            return [h.If(test, sides[0], sides[1], span=span)]
        source = self.pointer(value)
        one, other = (leaf(self.arrays[n])[0] for n in (name, source.array))
        if one is not None and other_type(one, other):
            reason = f"`{self.low.text(value)}` sees memory of {other} as {one}"
            raise self.low.refuse("KR211", reason, node, "use memory of one type")
        note_place(self, name, source)
        return [h.Point((name,), (source,), span=span)]


__all__ = ["Calls", "Token"]
