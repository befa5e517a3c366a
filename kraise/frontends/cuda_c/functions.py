"""Whole functions: kernels, plain C functions, device functions (an instance for each combination of arguments)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lark import Tree

from kraise.diagnostics import Diagnostic, Refused
from kraise.frontends.cuda_c.c_types import VOID, Array, CType, Pointer, Reference, Struct, describe, ir_type
from kraise.frontends.cuda_c.calls import Calls
from kraise.frontends.cuda_c.cas_loops import atomics
from kraise.frontends.cuda_c.constants import OpenWidth, fold
from kraise.frontends.cuda_c.declarations import Specifiers
from kraise.frontends.cuda_c.inline import AutoResult, ReferenceResult
from kraise.frontends.cuda_c.overloads import Parameter
from kraise.frontends.cuda_c.program import struct_parameter
from kraise.frontends.cuda_c.roving import roving
from kraise.frontends.cuda_c.specialised import mark
from kraise.frontends.cuda_c.structs import Definition
from kraise.frontends.cuda_c.tidy import tidy
from kraise.frontends.cuda_c.trees import Node, child, end, position, trees
from kraise.frontends.cuda_c.usage import usage
from kraise.frontends.cuda_c.values import Alias, Cell, GlobalVariable, PointerPlace, PointerValue, VarPlace
from kraise.frontends.webs import counted_and_set, split
from kraise.ir.kernel import Assign, Atomic, Barrier, CallStmt, Const, Function, LocalArray, Param, Store, Warp
from kraise.ir.types import FLOAT64, INT32, ArrayType, ScalarType


@dataclass(eq=False)
class Instance:
    """A device function for one combination of argument kinds; ``inline`` where it has to be lowered in place."""

    function: Function
    pure: bool
    globals_used: dict[str, GlobalVariable] = field(default_factory=dict)
    inline: bool = False


class Lowering(Calls):
    """Lowers one function; without one it reads the file's types and constants."""

    def __init__(self, program: Any, wide: bool = True):
        super().__init__(program, wide)
        self.saw_double = False
        self.loops = []
        self.dynamic = None
        self.written_here = set()
        self.inexact_literal: Node | None = None

    # --- what layers below leave open

    def specifiers(self, node: Tree) -> Specifiers:
        found = super().specifiers(node)
        if _has_double(found.type):
            self.saw_double = True
        return found

    def entity_place(self, entity: Any, name: str, node: Node) -> Any:
        if isinstance(entity, GlobalVariable) and _has_double(entity.type):
            self.saw_double = True
        return super().entity_place(entity, name, node)

    def returns_reference(self, source: Node, node: Tree) -> bool:
        result = self.inline_result
        if not isinstance(result, ReferenceResult):
            return False
        place = self.place(source)
        while isinstance(place, Alias):
            place = place.place
        if result.place is not None and result.place != place:
            raise self.refuse("KR299", f"`{result.name}` returns one of several references: not raised", node)
        result.place = place
        self.flush()
        return True

    def check_return(self, value: Any, node: Tree) -> None:
        if isinstance(self.inline_result, AutoResult):
            self.inline_result = self.inline_result.bind(value)

    def _number(self, node: Tree) -> Any:
        c = super()._number(node)
        text = str(node.children[0]).lower()
        if not self.wide and c.type.is_inexact and not text.endswith("f") and self.inexact_literal is None:
            self.inexact_literal = node
        return c

    # --- kernels and plain functions

    def function(
        self,
        d: Definition,
        kind: str,
        name: str,
        scope: dict[str, Any],
        static: tuple[Param, ...] = (),
        null: frozenset[str] = frozenset(),
    ) -> Function:
        """The Kernel IR of a kernel or a plain function, for pointers that are ``null``. Raises Refused."""
        tree = self.program.load(d)
        if tree.data != "function_definition":
            raise self.refuse("KR101", f"{tree.data.replace('_', ' ')} is not raised", tree)
        declarator, body = child(tree, "function_declarator"), child(tree, "compound_statement")
        specifier_node = child(tree, "decl_specifiers")
        assert declarator is not None and body is not None and specifier_node is not None
        self.scopes = [d.scope, scope, {}]
        for p in static:
            self.names[p.name] = "taken"
        parameters = self.parameters(declarator)
        specifiers = self.specifiers(specifier_node)
        _, returns = self.declarator(child(declarator, "declarator"), specifiers.type)  # type: ignore[arg-type]
        if kind == "kernel" and returns != VOID:
            raise self.refuse("KR104", "a kernel returns nothing", specifier_node)
        self.returns = returns
        self.usage = usage(body, frozenset(self.program.reference_functions))
        self.roving = roving(body, tuple(p.name for p in parameters), self.usage.modified)
        for q in parameters:
            if q.name in null and isinstance(q.type, Pointer):
                nowhere = PointerValue("", (), None, q.type.to)
                self.declare(q.name, PointerPlace(q.name, q.type, nowhere, home=self.out))
        params = [self._kernel_parameter(p, tree) for p in parameters if p.name not in null]
        if kind == "kernel":
            numbers = {p.name for p in params if isinstance(p.type, ScalarType) and p.type.is_integer}
            self.sizes_given = frozenset(numbers - self.usage.modified.keys())
        with self.scope():
            if kind == "kernel":
                self._shared_of_file(body)
            self.statement(body)
        if d.also:
            last: Any = self.out[-1]
            self.out[-1] = replace(last, values=(*last.values, *d.also))
        body_ir = tidy(atomics(self.with_dynamic(self.out)), self.made)
        extra = [self._global_parameter(g) for g in self.globals_used.values()]
        span = self.span(tree)
        function = Function(
            name,
            kind,
            (*params, *extra, *static),
            tuple(body_ir),
            doc=self.program.comment_before(tree, d.item),
            returns=(returns, *(v.type for v in d.also)) if isinstance(returns, ScalarType) else (),
            static=tuple(p.name for p in static),
            launch_bounds=self._launch_bounds(specifier_node),
            multiples=tuple(sorted(self.multiples)),
            span=span,
        )
        return split(function, counted_and_set(function) & self.declared_again)

    def _launch_bounds(self, node: Tree) -> tuple[int, ...]:
        out: list[int] = []
        for a in trees(node, "attribute_specifier"):
            if a.children and str(a.children[0]) == "__launch_bounds__":
                for x in a.children[1:]:
                    known = fold(self.value(x)) if isinstance(x, Tree) else None
                    if known is not None:
                        out.append(int(known.value))  # type: ignore[arg-type]
        return tuple(out)

    def _kernel_parameter(self, p: Parameter, tree: Tree) -> Param:
        if not p.name:
            p = replace(p, name=self.fresh("unused"))
        t = p.type.to if isinstance(p.type, Reference) else p.type
        try:
            kernel_type = ir_type(t)
        except TypeError:
            raise self.refuse("KR104", f"a parameter of type {describe(t)} is not raised", tree) from None
        self.names[p.name] = t if isinstance(t, ScalarType) else "taken"
        place: Any
        if isinstance(t, ScalarType):
            place = VarPlace(p.name, t)
        elif isinstance(t, Struct):
            place = struct_parameter(p.name, t)
        elif isinstance(t, Pointer):
            pointer = PointerPlace(p.name, t, PointerValue(p.name, (), None, t.to), home=self.out)
            holds_pointers = isinstance(t.to, Struct) and any(isinstance(m, Pointer) for _, m in t.to.members)
            if isinstance(t.to, Struct) and holds_pointers and not self._subscripted(p.name, tree):
                pointer.value = PointerValue("", (), None, t.to, target=struct_parameter(p.name, t.to))
                try:
                    kernel_type = ir_type(t.to)
                except TypeError:
                    raise self.refuse("KR104", f"a parameter of type {describe(t)} is not raised", tree) from None
            elif p.name in self.roving:
                self.rove(pointer, self.roving[p.name], pointer.value, tree)
            elif self.usage.modified.get(p.name):
                pointer.offset_name = self.fresh(f"{p.name}_offset")
                self.emit(Assign(pointer.offset_name, Const(0, INT32), INT32, span=self.span(tree)))
            place = pointer
        else:
            raise self.refuse("KR104", f"a parameter of type {describe(t)} is not raised", tree)
        self.declare(p.name, place)
        return Param(p.name, kernel_type, by_reference=isinstance(p.type, Reference), span=self.span(tree))

    def _shared_of_file(self, body: Tree) -> None:
        """Declares the shared variables of the file that the body names: each block has its own."""
        toks = self.program.unit.tokens
        for name in dict.fromkeys(toks[n].text for n in range(position(body), end(body))):
            item = self.program.items.get(name)
            if item is None or item.kind != "variable":
                continue
            if any(t.text == "__shared__" for t in toks[item.first : item.last]) and self.program.entity(name):
                t, words = self.program.shared[name]
                self._define_array(name, t, Specifiers(t, words), None, body)

    def _subscripted(self, name: str, tree: Tree) -> bool:
        """Is there ``name[`` or arithmetic on ``name`` in the function?"""
        toks = self.program.unit.tokens
        first, last = position(tree), end(tree)
        after = ("[", "+", "++", "+=")
        return any(toks[k].text == name and toks[k + 1].text in after for k in range(first, last - 1))

    def _global_parameter(self, g: GlobalVariable) -> Param:
        if g.name in self.program.shared:
            reason = f"`{g.name}`, shared memory of the file, is used in a function that is no kernel"
            raise Refused(Diagnostic("KR104", reason, g.span, "hand it to the function"))
        what = "constant memory" if g.constant else "a variable of the device"
        if g.name not in self.program.said:
            self.program.said.add(g.name)
            self.notes.append(
                Diagnostic("KR104", f"`{g.name}` is {what}: it becomes a parameter", g.span, severity="note")
            )
        t: CType = g.type
        if isinstance(g.place, Cell) and not isinstance(t, Array):
            t = Array(t, Const(1, INT32))
        try:
            return Param(g.name, ir_type(t), span=g.span)
        except TypeError:
            reason = f"`{g.name}` is of type {describe(t)}: such a variable is not raised"
            raise Refused(Diagnostic("KR104", reason, g.span)) from None

    # --- device functions

    @classmethod
    def instance(
        cls,
        caller: Any,
        d: Definition,
        scope: dict[str, Any],
        parameters: list[Parameter],
        modes: tuple[Any, ...],
        returns: CType,
        node: Tree,
    ) -> Instance:
        """The function that serves a call; made once for each combination. Raises Refused."""
        program = caller.program
        bindings = tuple((k, getattr(v, "type", None) or getattr(v, "value", None)) for k, v in scope.items())
        key = (d, bindings, modes, caller.wide)
        known = program.instances.get(key)
        if known is not None:
            return known
        program.active.append(mark(d, scope))
        try:
            made = cls._make_instance(caller, d, scope, parameters, modes, returns)
        except OpenWidth:
            raise  # it may be lowered in place
        except Refused as problem:
            raise Refused(*(_called_from(x, d, caller.span(node)) for x in problem.diagnostics)) from None
        finally:
            program.active.pop()
        program.instances[key] = made
        return made

    @classmethod
    def _make_instance(
        cls,
        caller: Any,
        d: Definition,
        scope: dict[str, Any],
        parameters: list[Parameter],
        modes: tuple[Any, ...],
        returns: CType,
    ) -> Instance:
        program = caller.program
        tree = program.load(d)
        body = child(tree, "compound_statement")
        if body is None:
            raise caller.refuse("KR103", f"`{d.name}` is declared but not defined", tree)
        wide = False
        while True:
            low = cls(program, wide)
            low.scopes = [d.scope, scope, {}]
            low.returns = returns
            low.saw_double = any(_has_double(t) for t in [returns, *(m[1] for m in modes)])
            low.usage = usage(body, frozenset(program.reference_functions))
            params = [low.device_parameter(p, m, tree) for p, m in zip(parameters, modes, strict=True)]
            low.volatile |= {q.name for p, q in zip(parameters, params, strict=True) if p.volatile}
            with low.scope():
                low.statement(body)
            if low.saw_double and not wide:
                wide = True
                continue
            break
        caller.notes += [n for n in low.notes if all(n.reason != x.reason for x in caller.notes)]
        extra = [low._global_parameter(g) for g in low.globals_used.values()]
        made = {s.name for s in _statements(low.out) if isinstance(s, LocalArray)}
        effects = low.dynamic is not None or _effects(low.out, made)
        by_reference = any(m[0] in ("reference", "pointer") for m in modes)
        name = program.instance_name(d)
        function = Function(
            name,
            "device",
            (*params, *extra),
            tuple(tidy(atomics(low.out), low.made)),
            doc=program.comment_before(tree, d.item),
            returns=(returns,) if isinstance(returns, ScalarType) else (),
            span=low.span(tree),
        )
        # what a call changes is seen where it is called: such a body is lowered in place
        return Instance(function, not effects and not by_reference, dict(low.globals_used), effects or by_reference)

    def device_parameter(self, p: Parameter, mode: Any, tree: Tree) -> Param:
        """Declare a parameter as a mode of passing has it."""
        name = p.name or f"unused_{len(self.names)}"
        self.names[name] = "taken"
        span = self.span(tree)
        how, t = mode[0], mode[1]
        if how in ("value", "reference"):
            declared = p.type.to if isinstance(p.type, Reference) else p.type
            kept = declared if isinstance(declared, ScalarType) and how == "value" else t
            self.names[name] = kept
            self.given.add(name)
            self.declare(p.name, VarPlace(name, kept))
            return Param(name, kept, by_reference=how == "reference", span=span)
        if how == "pointer":
            self.names[name] = t
            value = PointerValue("", (), None, t, target=VarPlace(name, t))
            self.declare(p.name, PointerPlace(name, Pointer(t), value))
            return Param(name, t, by_reference=True, span=span)
        element = t if how == "array" else t.members[0][1] if how == "vectors" else t.of
        place = PointerPlace(name, Pointer(t), PointerValue(name, (), None, t))
        if self.usage.modified.get(p.name):
            place.offset_name = self.fresh(f"{name}_offset")
            self.emit(Assign(place.offset_name, Const(0, INT32), INT32, span=span))
        self.declare(p.name, place)
        return Param(name, ArrayType(element, mode[2]), span=span)


def _called_from(d: Diagnostic, definition: Definition, span: Any) -> Diagnostic:
    note = Diagnostic(d.code, f"in `{definition.name}`, called here", span, severity="note")
    return replace(d, causes=(*d.causes, note))


def _has_double(t: Any) -> bool:
    match t:
        case ScalarType():
            return t == FLOAT64
        case Pointer(to) | Reference(to):
            return _has_double(to)
        case Array(of):
            return _has_double(of)
        case Struct(_, members):
            return any(_has_double(m) for _, m in members)
    return False


def _statements(stmts: Sequence[Any]) -> list[Any]:
    out: list[Any] = []
    for s in stmts:
        out.append(s)
        for inner in (getattr(s, "body", ()), getattr(s, "orelse", ())):
            out += _statements(inner)
    return out


def _effects(stmts: Sequence[Any], own: set[str]) -> bool:
    """Does a body do more than compute its result from what it is given?"""
    for s in _statements(stmts):
        match s:
            case Store(array) if array not in own:
                return True
            case Atomic() | Barrier() | CallStmt():
                return True
            case LocalArray(space="shared"):
                return True
            case Assign(_, value) if isinstance(value, Warp):
                return True
    return False
