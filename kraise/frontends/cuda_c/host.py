"""CUDA C host functions to Host IR: declarations, loops, branches; calls are in :mod:`host_calls`.

Scalars and pointer arithmetic are lowered as in kernels; a pointer is an array of Host IR.
"""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.diagnostics import Diagnostic, Refused
from kraise.frontends.cuda_c import vocabulary
from kraise.frontends.cuda_c.c_types import (
    Array,
    Container,
    CType,
    Pointer,
    Reference,
    Struct,
    Void,
    leaf,
    tail,
    vector,
)
from kraise.frontends.cuda_c.functions import Lowering
from kraise.frontends.cuda_c.host_calls import Calls
from kraise.frontends.cuda_c.host_expressions import HostExpressions
from kraise.frontends.cuda_c.host_loops import counted
from kraise.frontends.cuda_c.host_names import callee, concept, normal
from kraise.frontends.cuda_c.program import Program, struct_parameter
from kraise.frontends.cuda_c.structs import Definition
from kraise.frontends.cuda_c.trees import Node, child, kind, strip, tokens, trees
from kraise.frontends.cuda_c.values import PointerPlace, PointerValue, VarPlace
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT32, UINT32, ArrayType, ScalarType

ZERO, ONE = k.Const(0, INT32), k.Const(1, INT32)


class HostReader(Calls, HostExpressions):
    """One host function."""

    def __init__(self, program: Program, functions: dict[str, k.Function], hosts: dict[str, tuple[bool, ...]]):
        self.program = program
        self.low: Any = Lowering(program, True)
        self.functions, self.hosts = functions, hosts
        self.arrays: dict[str, CType] = {}
        self.dims: dict[str, tuple[k.Expr, ...]] = {}
        self.definitions: dict[str, k.Expr] = {}
        self.ignored: set[str] = set()
        self.packs: dict[str, tuple[Node, ...]] = {}
        self.dropped: list[h.Dropped] = []
        self.problems: list[Diagnostic] = []
        self.outlined: list[k.Function] = []
        self.plans: dict[str, tuple[tuple[k.Expr, ...], k.Expr]] = {}  # of cuFFT: sizes and batch
        self.functors: dict[str, Tree] = {}  # declarations of names that are no numbers and no arrays
        self.null: set[str] = set()  # pointers to storage of a library that nothing was allocated for yet
        self.containers: set[str] = set()
        self.made: set[str] = set()
        self.skipped: set[int] = set()  # places of parameters without a part in the values
        self.skips: dict[str, set[int]] = {}  # those of the other host functions
        self.pending: list[h.Stmt] = []  # what a library call inside an expression needs before it
        self.low.library = self.library_in
        self.name = ""

    def read(self, d: Definition, name: str) -> h.Host:
        """The host function. Raises Refused."""
        tree = self.program.load(d)
        declarator, body = child(tree, "function_declarator"), child(tree, "compound_statement")
        if tree.data != "function_definition" or declarator is None or body is None or d.parameters:
            raise self.low.refuse("KR211", f"{name} is no plain function", tree)
        self.name = name
        self.low.scopes = [d.scope, {}]
        params: list[k.Param] = []
        copied: list[h.Stmt] = []
        for at, p in enumerate(self.low.parameters(declarator)):
            t = p.type.to if isinstance(p.type, Reference) else p.type
            if is_handle(t):
                self.ignored.add(p.name)
                self.skipped.add(at)
                continue
            if isinstance(t, Container) and t.owns:
                self.containers.add(p.name)
                self.made.add(p.name)
                if not isinstance(p.type, Reference):
                    copied.append(h.Bind(p.name, h.Whole(p.name), span=self.low.span(declarator)))
            if isinstance(t, Pointer) and leaf(t.to)[0] is not None and not isinstance(t.to, Pointer):
                element, axes = leaf(t.to)
                self.array(p.name, t.to)
                params.append(k.Param(p.name, ArrayType(element, axes + 1, tail(t.to)), span=self.low.span(declarator)))  # type: ignore[arg-type]
            elif isinstance(t, ScalarType) and not isinstance(p.type, Reference):
                self.scalar(p.name, t)
                params.append(k.Param(p.name, t, span=self.low.span(declarator)))
            elif name == "main":
                self.ignored.add(p.name)
            else:
                raise self.low.refuse("KR211", f"the parameter {p.name} of {name} is no array and no number", tree)
        out = self.block(body)
        if self.problems:
            raise Refused(*self.problems)
        doc = self.program.comment_before(tree, d.item)
        return h.Host(name, tuple(params), (*copied, *out), doc, tuple(self.dropped), (), self.low.span(declarator))

    # --- names

    def array(self, name: str, element: CType) -> None:
        """Declares an array."""
        self.arrays[name] = element
        self.low.names[name] = "taken"
        self.low.declare(name, PointerPlace(name, Pointer(element), PointerValue(name, (), None, element)))

    def scalar(self, name: str, t: ScalarType) -> None:
        """Declares a number."""
        self.low.names[name] = t
        self.low.declare(name, VarPlace(name, t))

    def drop(self, node: Node, what: str) -> list[h.Stmt]:
        """Notes a statement that has no part in the values."""
        self.dropped.append(h.Dropped(" ".join(self.low.text(node).split()), what, self.low.span(node)))
        return []

    # --- statements

    def block(self, node: Node) -> tuple[h.Stmt, ...]:
        """The statements of a block; problems are collected."""
        out: list[h.Stmt] = []
        self.low.scopes.append({})
        around, self.pending = self.pending, []
        parts = trees(node) if kind(node) == "compound_statement" else [node]  # type: ignore[arg-type]
        for part in parts:
            try:
                found = self.statement(part)
                out += [*self.flushed(), *found]
            except Refused as refused:
                self.flushed()
                self.low.out.clear()
                self.low.after.clear()
                self.problems += refused.diagnostics
        self.low.scopes.pop()
        self.pending = around
        return tuple(out)

    def statement(self, node: Any) -> list[h.Stmt]:
        """One statement."""
        span = self.low.span(node)
        match kind(node):
            case "compound_statement":
                return list(self.block(node))
            case "declaration_statement":
                return [s for d in trees(node, "declaration") for s in self.declaration(d)]
            case "expression_statement":
                return self.effect(node.children[0]) if node.children else []
            case "if_statement" | "if_else_statement":
                return self.branch(node)
            case "for_statement":
                return self.for_loop(node)
            case "while_statement":
                test, body = [c for c in node.children if isinstance(c, Tree)][:2]
                nest = self.nest(node)
                return nest if nest is not None else [h.While(self.repeated(test), self.block(body), span=span)]
            case "do_statement":
                body, test = [c for c in node.children if isinstance(c, Tree)][:2]
                condition = self.repeated(test)
                if isinstance(condition, k.Const) and not condition.value:
                    return list(self.block(body))  # a macro's do { … } while (0)
                return [h.While(condition, self.block(body), True, span=span)]
            case "break_statement":
                return [h.Break(span=span)]
            case "return_statement":
                value = next((c for c in node.children if isinstance(c, Tree)), None)
                if value is None or self.name == "main" or self.is_ignored(value):
                    return [h.Return((), span=span)]
                return [h.Return((self.number(value),), span=span)]
            case "pragma_statement":
                return [s for c in trees(node) for s in self.statement(c)]
        raise self.low.refuse("KR211", f"{kind(node).replace('_', ' ')} in a host function is not raised", node)

    def branch(self, node: Tree) -> list[h.Stmt]:
        """``if``: one that tests for an error is dropped with what it does then."""
        parts = [c for c in node.children if isinstance(c, Tree)]
        test, then = parts[0], parts[1]
        before: list[h.Stmt] = []
        inner = self.runtime_call(test)
        if inner is not None:  # if (cudaMalloc(…) != cudaSuccess) …
            before = self.effect(inner)
            self.without_effects(then)
            self.drop(then, "error check")
            return before
        if self.is_ignored(test) or self.is_error_test(test):
            self.without_effects(node)
            return self.drop(node, "error check")
        condition = self.truth(test)
        body = self.block(then)
        orelse = self.block(parts[2]) if len(parts) > 2 else ()
        if not body and not orelse:
            return self.drop(node, "a branch without effects")
        return [h.If(condition, body, orelse, span=self.low.span(node))]

    def without_effects(self, node: Tree) -> None:
        """Refuses to drop what launches or moves memory."""
        for inner in node.iter_subtrees():
            if inner.data == "launch_expression" or inner.data == "call_expression":
                name = callee(inner.children[0])
                if inner.data == "launch_expression" or concept(name) or name in self.program.functions:
                    raise self.low.refuse("KR211", "work that depends on an error code", node, "test errors by itself")

    def declaration(self, node: Tree) -> list[h.Stmt]:
        """A declaration: numbers, pointers, arrays, ``dim3``; of another type its names are ignored."""
        out: list[h.Stmt] = []
        before = set(self.ignored)
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
        for d in trees(node, "init_declarator", "constructor_declarator", "braced_declarator"):
            found = self.declared(d, base, held, specifier_node)
            out += [*self.flushed(), *found]
        if not out:
            self.functors |= dict.fromkeys(self.ignored - before, node)
        return out

    def declared(self, d: Tree, base: CType | None, held: CType | None, specifiers: Tree) -> list[h.Stmt]:
        """One declarator with its initializer."""
        span = self.low.span(d)
        declarator = child(d, "declarator")
        assert declarator is not None
        initial = [c for c in trees(d) if c is not declarator]
        if held is not None:
            token, _ = self.low.declarator(declarator, INT32)
            owns = "device_ptr" not in {str(t) for t in tokens(specifiers)}
            return self.host_vector(str(token), held, initial, d, owns)
        if base is None:
            token, _ = self.low.declarator(declarator, INT32)
            self.ignored.add(str(token))
            return [s for i in initial if (call := self.runtime_call(i)) is not None for s in self.effect(call)]
        token, t = self.low.declarator(declarator, base)
        name = str(token)
        self.low.names.setdefault(name, "taken")
        if isinstance(t, Struct) and t.name == "uint3":
            return self.dim3(name, initial)
        if isinstance(t, ScalarType):
            return self.declared_scalar(name, t, initial, d)
        if isinstance(t, Pointer) and leaf(t.to)[0] is not None and not isinstance(t.to, Pointer):
            self.array(name, t.to)
            return self.assign_pointer(name, initial[0], d) if initial else []
        if isinstance(t, Array) and isinstance(t.of, ScalarType) and t.extent is not None:
            self.array(name, t.of)
            values = [self.number(c) for i in initial for c in trees(i) if not kind(c).startswith("braced")]
            if initial and not values:
                values = [self.number(c) for i in initial for b in trees(i, "braced_init_list") for c in trees(b)]
            fill = k.Const(0, INT32) if initial else None
            made: list[h.Stmt] = [h.Alloc(name, t.of, (normal(t.extent),), fill, span=span)]
            return made + [h.Store(name, (k.Const(n, INT32),), v, span=span) for n, v in enumerate(values)]
        if isinstance(t, Array) and isinstance(t.of, Pointer) and initial:
            inner = initial[0]
            braces = inner if kind(inner) == "braced_init_list" else child(inner, "braced_init_list")
            if braces is not None:
                self.packs[name] = tuple(trees(braces))
                return []
        if initial and self.runtime_call(initial[0]) is not None:
            self.ignored.add(name)
            return self.effect(self.runtime_call(initial[0]))
        if isinstance(t, Pointer) and (not initial or kind(strip(initial[0])) in ("null_pointer", "number")):
            self.null.add(name)
        self.ignored.add(name)
        return []

    def declared_scalar(self, name: str, t: ScalarType, initial: list[Tree], d: Tree) -> list[h.Stmt]:
        """A number with its initializer."""
        span = self.low.span(d)
        if not initial:
            self.scalar(name, t)
            return []
        if self.is_ignored(initial[0]):
            self.ignored.add(name)
            return self.drop(d, "timing or a stream")
        inner = strip(initial[0])
        if isinstance(inner, Tree) and inner.data == "call_expression":
            called = callee(inner.children[0])
            if self.is_dropped(called):
                self.ignored.add(name)
                return self.drop(d, self.is_dropped(called))
            if called in self.hosts:
                self.scalar(name, t)
                return [h.CallHost(called, self.arguments(inner), (name,), (False,), span=span)]
        value = self.low.convert(self.number(initial[0]), t, d)
        self.scalar(name, t)
        if self.named_result(name, value, t):
            return []
        if isinstance(value, k.Const | k.Op | k.Cast | k.Var):
            self.definitions[name] = value
        return [h.Assign(name, value, t, span=span)]

    def dim3(self, name: str, initial: list[Tree]) -> list[h.Stmt]:
        """``dim3 grid(a, b)``: its extents by themselves."""
        found: tuple[k.Expr, ...] = (ONE, ONE, ONE)
        if len(initial) == 1 and kind(strip(initial[0])) != "braced_init_list":
            found = self.extents(initial[0])
        elif initial:
            nodes = [c for i in initial for c in (trees(i) if kind(i) == "braced_init_list" else [i])]
            found = tuple(normal(self.number(n)) for n in nodes)
        out: list[h.Stmt] = []
        parts: list[k.Expr] = []
        for axis, value in zip("xyz", found, strict=False):
            if isinstance(value, k.Const):
                parts.append(value)
                continue
            own = f"{name}_{axis}"
            out.append(h.Assign(own, value, INT32))
            parts.append(k.Var(own, INT32))
        self.dims[name] = tuple(parts)
        self.low.declare(name, struct_parameter(name, vector("uint3", UINT32, 3)))
        return out

    # --- loops

    def for_loop(self, node: Tree) -> list[h.Stmt]:
        """A counted loop, or a while loop with its start before it and its step at the end of the body."""
        nest = self.nest(node)
        if nest is not None:
            return nest
        init, test, step = (child(node, x) for x in ("for_init", "for_condition", "for_step"))
        body = [c for c in node.children if isinstance(c, Tree)][-1]
        span = self.low.span(node)
        self.low.scopes.append({})
        try:
            before: list[h.Stmt] = []
            for c in trees(init) if init is not None else []:
                before += self.declaration(c) if c.data == "declaration" else self.effect(c)
            condition = self.repeated(test.children[0]) if test is not None and test.children else k.Const(True, INT32)
            after = self.effect(step.children[0]) if step is not None and step.children else []
            inner = self.block(body)
        finally:
            self.low.scopes.pop()
        found = counted(before, condition, after, inner)
        if found is not None:
            var, start, stop, by = found
            declared = init is not None and child(init, "declaration") is not None
            loop: list[h.Stmt] = [*before[:-1], h.For(var, start, stop, by, inner, span=span)]
            if not declared and by == ONE:
                last = k.Op("max", (start, stop), INT32)
                loop.append(h.Assign(var, last, INT32, span=span))
            elif not declared:
                return [*before, h.While(condition, (*inner, *after), span=span)]
            return loop
        return [*before, h.While(condition, (*inner, *after), span=span)]


def is_handle(t: CType) -> bool:
    """Is it a stream, a library's handle, or a pointer to one?"""
    inner = t.to if isinstance(t, Pointer) else t
    return isinstance(inner, Void) and inner.name in vocabulary.opaque()
