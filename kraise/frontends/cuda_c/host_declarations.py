"""Declarations and parameters of CUDA C host functions: numbers, pointers, arrays, ``dim3``."""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c import host_main, host_smart, host_statuses, host_taken
from kraise.frontends.cuda_c.c_types import (
    AUTO,
    FUNCTION,
    Array,
    Container,
    CType,
    Pointer,
    Reference,
    Struct,
    leaf,
    tail,
    vector,
)
from kraise.frontends.cuda_c.host_braces import braces_of, unbraced
from kraise.frontends.cuda_c.host_calls import Calls
from kraise.frontends.cuda_c.host_dims import Dims
from kraise.frontends.cuda_c.host_grids import is_grid
from kraise.frontends.cuda_c.host_names import callee, is_handle, normal, product, rows_of, with_known_rows
from kraise.frontends.cuda_c.host_places import Places, is_bank, is_dim3, is_record, is_vector, record_behind
from kraise.frontends.cuda_c.host_racks import holds_racks
from kraise.frontends.cuda_c.program import struct_parameter
from kraise.frontends.cuda_c.tokens import Raw
from kraise.frontends.cuda_c.trees import Node, child, kind, strip, tokens, trees
from kraise.frontends.cuda_c.values import Constant
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT32, UINT32, ArrayType, ScalarType

ONE = k.Const(1, INT32)


class Declarations(Dims, Calls, Places):
    """The part of the reader that knows declarations; :class:`kraise.frontends.cuda_c.host.HostReader` has the rest."""

    skipped: set[int]
    rows: dict[str, tuple[k.Expr, ...]]
    flushed: Any
    unfollow: Any
    hoisted: Any
    given_by: Any
    references: set[str]
    default_members: Any
    constructed: Any
    copies: Any
    pointed_at: Any
    places: set[str]
    listed: dict[str, tuple[k.Expr, ...]]
    functor_values: dict[str, Any]
    changed_objects: set[str]
    handed: set[str]
    set_parameters: dict[str, Tree]  # numbers that parameters refer to and that the function sets
    device_vectors: set[str]
    renames: dict[str, list[Raw] | None]

    def parameter(self, at: int, node: Tree, params: list[k.Param]) -> list[h.Stmt]:
        """A parameter, and the copy that one by value is: an array or a number.

        One of another type (a stream, a file, the arguments of ``main``) has no part in the values."""
        if (declarator := child(node, "declarator")) is None:
            return []
        try:
            p = self.low.parameters(Tree("function_declarator", [node]))[0]
        except Refused:
            p = None
        own = str(self.low.declarator(declarator, INT32)[0]) if p is None else p.name
        t = None if p is None else p.type.to if isinstance(p.type, Reference) else p.type
        t = Pointer(t) if t is not None and own in self.set_parameters else t
        if t == FUNCTION:
            hint = "functions that call it with a kernel are raised with it written out"
            raise self.low.refuse("KR211", f"the parameter {own} of {self.name} is a function", node, hint)
        words = isinstance(t, Pointer) and isinstance(t.to, Pointer) and str(t.to.to) == "int8"  # char **argv
        counted = isinstance(t, ScalarType) and own == "argc"
        if words or counted:
            self.arguments_of_main.add(own)
        text = isinstance(t, Pointer) and str(t.to) == "int8" and p is not None and p.const and own not in self.handed
        if p is None or t is None or text or words or counted or is_handle(t) or self.name == "main":
            self.arguments_of_main |= {own} if self.name == "main" else set()
            self.ignored, self.skipped = self.ignored | {own}, self.skipped | {at}
            return []
        span = self.low.span(node)
        copied: list[h.Stmt] = []
        if holds_racks(t):
            hint = "functions that call it with structs of their own are raised with it written out"
            raise self.low.refuse("KR211", f"the parameter {own} of {self.name} is a vector of structs", node, hint)
        if isinstance(t, Container) and t.owns:
            self.containers.add(own)
            self.made.add(own)
            if not isinstance(p.type, Reference):
                copied.append(h.Bind(own, h.Whole(own), span=span))
        record = t if is_vector(t) else record_behind(t)
        pointers = self.low.declarator(declarator, self.low.specifiers(child(node, "decl_specifiers")).type)[1]
        if is_bank(pointers):
            self.bank(own, pointers, node)
            for each in self.banks[own]:
                params.append(k.Param(each, ArrayType(leaf(pointers.of.to)[0], 1), span=span))  # type: ignore[arg-type]
        elif is_dim3(t):
            parts = [k.Var(f"{own}_{axis}", INT32) for axis in "xyz"]
            for part in parts:
                self.scalar(part.name, INT32)
                params.append(k.Param(part.name, INT32, span=span))
            self.dims[own] = tuple(parts)
            self.low.declare(own, struct_parameter(own, vector("uint3", UINT32, 3)))
        elif record is not None and not is_handle(t):
            by_place = isinstance(p.type, Pointer | Reference) and not p.const
            copied += self.record_parameter(own, record, by_place, params, node)  # type: ignore[arg-type]
        elif isinstance(t, Pointer) and leaf(t.to)[0] is not None and not isinstance(t.to, Pointer):
            element, axes = leaf(t.to)
            self.array(own, t.to)
            if isinstance(t.to, Array):
                if not rows_of(t.to):
                    raise self.low.refuse("KR211", f"the extents of the rows of {own} are not known", node)
                self.rows[own] = rows_of(t.to)
            params.append(k.Param(own, ArrayType(element, axes + 1, tail(t.to)), span=span))  # type: ignore[arg-type]
        elif isinstance(t, ScalarType):
            default = self.number(p.default) if p.default is not None else None
            self.scalar(own, t)
            params.append(k.Param(own, t, default if isinstance(default, k.Const) else None, span=span))
        else:
            raise self.low.refuse("KR211", f"the parameter {own} of {self.name} is no array and no number", node)
        return copied

    def declaration(self, node: Tree) -> list[h.Stmt]:
        """A declaration: numbers, pointers, arrays, ``dim3``; of another type its names are ignored."""
        out: list[h.Stmt] = []
        before = set(self.ignored)
        node = self.placed(node)
        specifier_node = child(node, "decl_specifiers")
        if specifier_node is None:
            return []
        held = self.vector_of(specifier_node)
        base: CType | None = None
        if held is None:
            try:
                base = self.low.specifiers(specifier_node).type
            except Refused:
                base = None
        self.renames = {**self.renames, **self.enumerated(specifier_node)}
        for d in trees(node, "init_declarator", "constructor_declarator", "braced_declarator"):
            found = self.declared(d, base, held, specifier_node)
            out += [*self.flushed(), *found]
        if not out or host_statuses.STATUS & {str(t) for t in tokens(specifier_node)}:
            self.functors |= dict.fromkeys(self.ignored - before, node)
        return out

    def enumerated(self, specifiers: Tree) -> dict[str, list[Raw]]:
        """The enumerators of ``enum { N = 64 };`` within a function, in the text of loops that become functions."""
        names = [str(e.children[0]) for e in specifiers.find_data("enumerator")]
        known = {n: c for n in names if isinstance(c := self.low.lookup(n), Constant)}
        return {
            n: [Raw("OP", "("), *([Raw("OP", "-")] if v < 0 else []), Raw("NUMBER", str(abs(v))), Raw("OP", ")")]
            for n, c in known.items()
            for v in [int(c.value.value.real)]
        }

    def declared(self, d: Tree, base: CType | None, held: CType | None, specifiers: Tree) -> list[h.Stmt]:
        """One declarator with its initializer."""
        span = self.low.span(d)
        declarator = child(d, "declarator")
        assert declarator is not None
        initial = [self.hoisted(c) for c in unbraced(base, declarator, [c for c in trees(d) if c is not declarator])]
        if held is not None:
            token, _ = self.low.declarator(declarator, INT32)
            if (several := self.rack(str(token), Container(held), initial, d)) is not None:
                return several
            kinds = {str(t) for t in tokens(specifiers)}
            self.device_vectors |= {str(token)} if "device_vector" in kinds else set()
            return self.host_vector(str(token), held, initial, d, "device_ptr" not in kinds)
        if base is None:
            token, _ = self.low.declarator(declarator, INT32)
            self.ignored.add(str(token))
            self.made_elsewhere(str(token), initial, d)
            out: list[h.Stmt] = []
            for i in initial:
                out += self.kept(i)
                self.ignore(str(token), i)
                self.unfollow(i)
            return out
        if base == AUTO and len(initial) == 1:
            source = callee(initial[0])
            if source in self.containers and not any(declarator.find_data("ptr_operator")):  # auto w = v: a copy
                token, _ = self.low.declarator(declarator, INT32)
                return self.host_vector(str(token), self.arrays[source], initial, d, True)
            owner = self.record_of(initial[0])
            if owner and not any(declarator.find_data("ptr_operator")):  # auto q = p[1], auto q = &s
                token, _ = self.low.declarator(declarator, INT32)
                of: CType = self.kinds[owner]
                of = Pointer(of) if host_smart.is_place(self, initial[0]) else of
                return self.declared_record(str(token), of, initial, d)
            base = self.type_given(initial[0])
            held = base.to if isinstance(base, Reference) else base
            if isinstance(held, Container) and held.owns:  # auto r = solve(x, n)
                token, _ = self.low.declarator(declarator, INT32)
                return self.host_vector(str(token), held.to, initial, d, True)
        token, t = self.low.declarator(declarator, base)
        name = str(token)
        if name in self.references:
            self.references.discard(name)
            return []
        words = {str(w) for w in tokens(specifiers)}
        again = isinstance(t, ScalarType | Array) and (self.name != "main" or self.inlining)
        if again and "static" in words and not words & {"const", "constexpr"}:
            raise self.low.refuse("KR211", f"{name} keeps its value from one call to the next", d, "pass it in")
        self.low.names.setdefault(name, "taken")
        if isinstance(t, Struct) and t.name == "uint3":
            return self.dim3(name, initial)
        if isinstance(t, ScalarType):
            return self.declared_scalar(name, t, initial, d)
        if (several := self.rack(name, t, initial, d)) is not None:
            return several
        if is_bank(t):
            pointers = self.bank(name, t, d)  # type: ignore[arg-type]
            given = [c for i in initial for b in braces_of(i) for c in trees(b)]
            return pointers + [
                s for own, g in zip(self.banks[name], given, strict=False) for s in self.assign_pointer(own, g, d)
            ]
        if is_vector(t):  # float3 g = make_float3(0, -9.8f, 0)
            members = self.record(name, t, d)  # type: ignore[arg-type]
            return members + (self.vector_given(name, initial[0], d) if len(initial) == 1 else [])
        if self.record_type(name, t) is not None and not isinstance(t, Reference):
            return self.declared_record(name, t, initial, d)
        if is_grid(t) and not isinstance(t, Container) and (rows := self.grid(name, t, initial, d)) is not None:
            return rows  # type: ignore[no-any-return]
        if isinstance(t, Pointer) and leaf(t.to)[0] is not None and not isinstance(t.to, Pointer):
            self.array(name, t.to)
            own = Tree("id_expression", [Token("NAME", name)], d.meta)
            return self.assigned(own, initial[0], d) if initial else []
        t = with_known_rows(t, self.defined)
        if isinstance(t, Array) and isinstance(t.of, Array) and leaf(t)[0] is not None and rows_of(t):
            self.array(name, t.of)  # float a[N][M]: flat memory
            self.low.extents[name] = t
            if initial:
                raise self.low.refuse(
                    "KR211", f"{name} is an array of arrays with an initializer", d, "fill it in a loop"
                )
            return [h.Alloc(name, leaf(t)[0], (product(*rows_of(t)),), None, span=span)]  # type: ignore[arg-type]
        if isinstance(t, Array) and t.extent is None and (listed := [b for i in initial for b in braces_of(i)]):
            t = Array(t.of, k.Const(len(trees(listed[0])), INT32))  # int steps[] = {3, 1, 2}
        if isinstance(t, Array) and isinstance(t.of, ScalarType) and t.extent is not None:
            self.array(name, t.of)
            self.low.extents[name] = t
            values = [self.number(c) for i in initial for c in trees(i) if not kind(c).startswith("braced")]
            if initial and not values:
                values = [self.number(c) for i in initial for b in trees(i, "braced_init_list") for c in trees(b)]
            self.listed[name] = tuple(values)
            fill = k.Const(0, INT32) if initial else None
            made: list[h.Stmt] = [h.Alloc(name, t.of, (normal(t.extent),), fill, span=span)]
            return made + [h.Store(name, (k.Const(n, INT32),), v, span=span) for n, v in enumerate(values)]
        if isinstance(t, Array) and isinstance(t.of, Pointer) and initial:
            inner = initial[0]
            braces = inner if kind(inner) == "braced_init_list" else child(inner, "braced_init_list")
            if braces is not None:
                self.packs[name] = tuple(trees(braces))
                return []
        self.functor_values |= {name: (t, initial)} if isinstance(t, Struct) else {}
        if initial and self.runtime_call(initial[0]) is not None:
            self.ignored.add(name)
            return self.effect(self.runtime_call(initial[0]))
        if isinstance(t, Pointer) and (not initial or kind(strip(initial[0])) in ("null_pointer", "number")):
            self.null.add(name)
            self.storage.add(name)
        self.ignored.add(name)
        done: list[h.Stmt] = []
        for i in initial:
            done += self.kept(i)
            self.ignore(name, i)
            self.unfollow(i)
        return done

    def type_given(self, node: Tree) -> CType:
        """The type of a variable that is declared with ``auto``: of what a helper gives, of a number or a pointer."""
        inner = strip(node)
        if (of := host_smart.made(self, inner)) is not None:
            return Pointer(of.of if isinstance(of, Array) else of)
        if kind(inner) == "call_expression" and (given := self.given_by(inner)) is not None:
            return given  # type: ignore[no-any-return]
        if kind(inner) == "call_expression":
            own = self.pointer_name(inner)
            return Pointer(self.arrays[own]) if own else AUTO
        try:
            found = self.low._argument_type(inner)
        except Refused:
            return AUTO
        return found if isinstance(found, ScalarType) or (isinstance(found, Pointer) and leaf(found.to)[0]) else AUTO

    def record_type(self, name: str, t: CType) -> Struct | None:
        """The struct of a variable: also of a class that is called, if its members are set one by one."""
        inner = t.to if isinstance(t, Pointer) else t
        called = name in self.changed_objects and isinstance(inner, Struct) and bool(inner.members)
        return inner if called and is_record(inner, called=True) else record_behind(t)  # type: ignore[return-value]

    def declared_record(self, name: str, t: CType, initial: list[Tree], d: Tree) -> list[h.Stmt]:
        """A struct: ``Fields f``, ``f = {…}``, ``f = make(n)``, ``f = g``, ``*s = &f``, ``*s = malloc(…)``."""
        inner = self.record_type(name, t)
        assert inner is not None
        other = self.record_of(initial[0]) if len(initial) == 1 else ""
        if other and not isinstance(t, Pointer) and not self.copies(self.kinds[other], inner):
            other = ""  # what its own constructor makes of it
        inner = self.pointed_at(inner, initial, other, d) if isinstance(t, Pointer) else inner
        if other and isinstance(t, Pointer):
            self.records[name], self.kinds[name] = self.records[other], self.kinds[other]
            self.places.add(name)
            return []
        made = self.record(name, inner, d)
        if initial and self.inlines(initial[0]):
            return made + self.inline(initial[0], Tree("id_expression", [Token("NAME", name)], d.meta))
        if other:
            return made + self.copied_record(name, other, d)
        new = self.uncast(initial[0]) if len(initial) == 1 else None
        smart = host_smart.made(self, new) is not None
        is_new = isinstance(new, Tree) and (new.data == "new_expression" or smart) and isinstance(t, Pointer)
        self.places |= {name} if isinstance(t, Pointer) else set()
        if is_new:  # Sim *sim = new Sim(n), auto sim = std::make_unique<Sim>(n)
            initial = trees(new)[1:] if smart else [c for c in trees(new) if c.data != "basic_type"]  # type: ignore[arg-type]
        if not isinstance(t, Pointer) or is_new:
            made += self.default_members(name, inner, d)
            listed = [trees(i) if kind(i) == "braced_init_list" else [i] for i in initial]
            found = self.constructed(name, inner, [self.placed(strip(a)) for args in listed for a in args], d)
            if found is not None:
                return made + found
        braces = [b for i in initial for b in braces_of(i)]
        given = trees(braces[0]) if braces else []
        for (member, of), value in zip(inner.members, given, strict=False):
            made += self.member_given(self.records[name][member], of, value, d)
        if initial and not braces and kind(call := self.uncast(initial[0])) == "call_expression":
            several = self.struct_given(name, call, d)  # type: ignore[arg-type]
            return made + (self.kept(call) if several is None else several)
        if initial and not braces and kind(self.uncast(initial[0])) not in ("call_expression", "new_expression"):
            raise self.low.refuse("KR211", f"what {name} is made of is not known here", d, "set its members one by one")
        return made

    def declared_scalar(self, name: str, t: ScalarType, initial: list[Tree], d: Tree) -> list[h.Stmt]:
        """A number with its initializer."""
        span = self.low.span(d)
        self.unset.discard(name)
        if not initial:
            self.scalar(name, t)
            self.unset.add(name)
            return []
        if (read := self.read_outside(name, t, initial[0], d)) is not None:
            return read
        if (tested := host_statuses.declared(self, name, t, initial[0])) is not None:
            return tested
        if self.is_ignored(initial[0]):
            before = self.kept(initial[0])
            self.ignore(name, initial[0])
            return before + self.drop(d, "timing or a stream")
        inner = strip(initial[0])
        if self.inlines(inner):
            self.scalar(name, t)
            return self.inline(inner, Tree("id_expression", [Token("NAME", name)], d.meta))
        if isinstance(inner, Tree) and inner.data == "call_expression":
            called = callee(inner.children[0])
            if self.is_dropped(called):
                self.ignored.add(name)
                return self.drop(d, self.is_dropped(called))
            if called in self.hosts:
                self.scalar(name, t)
                return [h.CallHost(called, self.arguments(inner), (name,), (False,), span=span)]
            if self.is_plain(inner):
                self.scalar(name, t)
                return self.plain_call(inner, (name,), t)
        if self.is_unknown(initial[0]):
            self.scalar(name, t)
            self.ignore(name, initial[0])
            return self.drop(d, "a call that is not known here")
        value = self.low.convert(self.number(initial[0]), t, d)
        self.scalar(name, t)
        if self.named_result(name, value, t):
            return []
        if isinstance(value, k.Const | k.Op | k.Cast | k.Var):
            self.definitions[name] = value
        return [h.Assign(name, value, t, span=span)]

    def read_outside(self, name: str, t: ScalarType, value: Node, node: Node) -> list[h.Stmt] | None:
        """``int n = atoi(argv[1])`` of ``main``: a parameter, None for any other value."""
        other = host_main.choice(self, value)
        if other is None and not (
            host_main.parsed(self, value) or host_main.random(self, value) or host_taken.from_arguments(self, value)
        ):
            return None
        self.scalar(name, t)
        self.ignored.discard(name)
        self.forget(name)
        self.inputs[name] = t
        span = self.low.span(node)
        out: list[h.Stmt] = []
        if other is not None:
            out.append(h.Assign(name, self.low.convert(self.number(other), t, node), t, span=span))
        self.drop(node, host_main.PARAMETER)
        return [*out, h.Assign(name, k.Var(name + host_main.MARK, t), t, span=span)]
