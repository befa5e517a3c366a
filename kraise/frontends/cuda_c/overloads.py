"""Which function a call means: parameters as declared, template arguments deduced, the nearest overload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lark import Tree

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c import numbers
from kraise.frontends.cuda_c.builtins import Builtins
from kraise.frontends.cuda_c.c_types import AUTO, CONTAINERS, VOID, Array, CType, Pointer, Reference, Struct, Tile, Void
from kraise.frontends.cuda_c.specialised import chosen_alone, specialised, specialises
from kraise.frontends.cuda_c.structs import Definition, template_binding
from kraise.frontends.cuda_c.trees import child, kind, last_name, strip, tokens, trees
from kraise.frontends.cuda_c.values import (
    Constant,
    Group,
    Lambda,
    PointerValue,
    Text,
    TypeName,
    VarPlace,
)
from kraise.ir.kernel import Const
from kraise.ir.types import FLOAT32, FLOAT64, INT32, ScalarType


@dataclass(frozen=True)
class Parameter:
    """A parameter as declared."""

    name: str
    type: CType
    const: bool
    default: Tree | None = None
    volatile: bool = False


def kernel_names(program: Any, name: str) -> dict[int, str]:
    """The names in the module of the kernels that share a name, by their first token: the first has its own, the
    others have numbers. Those that take the same types as another one, and templates, have none."""
    found = [d for d in program.functions.get(name, []) if d.kind == "kernel" and d.item is not None]
    names: dict[int, str] = {}
    taken: list[list[CType]] = []
    number = 1
    for d in found:
        if not names:
            names[d.item.first] = name
        if len(found) < 2:
            break
        try:
            types = [p.type for p in program.lowering(program)._signature(d, program.load(d), {})[0]]
        except Refused:
            continue
        if any(x.parameters for x in found) or types in taken:
            continue
        taken.append(types)
        while d.item.first not in names:
            number += 1
            own = f"{name}_{number}"
            if own not in program.functions:
                names[d.item.first] = own
    return names


def distance(p: CType, a: CType) -> int | None:
    """How far an argument's type is from a parameter's: 0 exact, None impossible."""
    if isinstance(p, Reference):
        p = p.to
    if p == AUTO or a == AUTO or isinstance(p, Void):
        return 1
    if isinstance(p, ScalarType) and isinstance(a, ScalarType):
        if p == a:
            return 0
        if numbers.promote(a) == p or (p == FLOAT64 and a == FLOAT32):
            return 1
        return 2 if p.is_inexact == a.is_inexact else 3
    if isinstance(p, Struct) and isinstance(a, Struct):
        return 0 if (p.name, p.arguments) == (a.name, a.arguments) else None
    if isinstance(p, Pointer) and isinstance(a, Pointer):
        if p.to == a.to or isinstance(p.to, Void) or isinstance(a.to, Void):
            return 0
        return 1 if isinstance(p.to, Array) and isinstance(a.to, Array) else None
    if isinstance(p, Array) and isinstance(a, Pointer):
        return 1
    return None


class Overloads(Builtins):
    """Chooses among the functions of a name."""

    def parameters(self, tree: Tree) -> list[Parameter]:
        """The declared parameters of a ``function_declarator`` (or a lambda's), in the scopes of this lowering."""
        out: list[Parameter] = []
        self.scopes.append({})  # `float a[n][m]`: an extent may name a parameter before it
        try:
            self._declared(tree, out)
        finally:
            self.scopes.pop()
        return out

    def _declared(self, tree: Tree, out: list[Parameter]) -> None:
        for p in trees(tree, "parameter_declaration"):
            specifiers = self.specifiers(child(p, "decl_specifiers"))  # type: ignore[arg-type]
            t = specifiers.type
            name = ""
            declarator = child(p, "declarator")
            if declarator is not None:
                token, t = self.declarator(declarator, t)
                name = str(token or "")
            else:
                abstract = child(p, "abstract_declarator")
                if abstract is not None:
                    t = self.abstract(abstract, t)
            if isinstance(t, Array):
                t = Pointer(t.of)
            if t == VOID and not name:
                continue
            default = child(p, "initializer_clause")
            out.append(Parameter(name, t, "const" in specifiers.words, default, "volatile" in specifiers.words))
            if isinstance(t, ScalarType) and name:
                self.declare(name, VarPlace(name, t))

    def _choose(
        self, name: str, found: list[Definition], explicit: list[Any], arguments: list[Tree], node: Tree
    ) -> tuple[Definition, dict[str, Any], list[Parameter], CType]:
        best: tuple[int, Any] | None = None
        problems: list[str] = []
        types: list[CType] | None = None
        for d in found:
            tree = self.program.load(d)
            if types is None and (len(found) > 1 or any(x.parameters for x in found) or specialises(self.program, d)):
                types = [self._argument_type(a) for a in arguments]
            if specialises(self.program, d):
                continue
            scope = self._bind_template(d, explicit, types or [], tree)
            if scope is None:
                problems.append("its template arguments are not known")
                continue
            parameters, returns = self._signature(d, tree, scope)
            required = sum(p.default is None for p in parameters)
            if not required <= len(arguments) <= len(parameters):
                problems.append(f"it takes {len(parameters)} arguments")
                continue
            score = 2 * bool(d.parameters)
            if types is not None:
                scores = [distance(p.type, t) for p, t in zip(parameters, types, strict=False)]
                if any(s is None for s in scores):
                    problems.append("its arguments are of other types")
                    continue
                score += sum(s or 0 for s in scores)
            if best is None or score < best[0]:
                best = (score, (d, scope, parameters, returns))
        alone = [x for x in found if specialises(self.program, x)] if best is None else []
        if alone and (own := chosen_alone(self, alone, explicit, types or [])) is not None:
            return own, {}, *self._signature(own, self.program.load(own), {})
        if best is None:
            reason = problems[0] if problems else "no definition"
            raise self.refuse("KR103", f"`{name}` cannot be called like this: {reason}", node)
        d, scope, parameters, returns = best[1]
        own = specialised(self, d, scope, found, node)
        if own is not d:
            return own, {}, *self._signature(own, self.program.load(own), {})
        return best[1]

    def _argument_type(self, node: Tree) -> CType:
        notes = list(self.notes)
        after = list(self.after)
        names = dict(self.names)
        globals_used = dict(self.globals_used)
        try:
            with self.captured():
                plain = strip(node)
                if kind(plain) == "braced_init_list":
                    return AUTO
                return self.type_of_value(self.value(plain))
        finally:
            self.notes, self.after, self.names, self.globals_used = notes, after, names, globals_used

    def _signature(self, d: Definition, tree: Tree, scope: dict[str, Any]) -> tuple[list[Parameter], CType]:
        low = self.program.lowering(self.program)
        low.scopes = [d.scope, scope]
        low.wide = self.wide
        declarator = child(tree, "function_declarator")
        assert declarator is not None
        parameters = low.parameters(declarator)
        specifiers = low.specifiers(child(tree, "decl_specifiers"))
        _, returns = low.declarator(child(declarator, "declarator"), specifiers.type)
        if low.saw_double:
            self.saw_double = True
        return parameters, returns

    def _bind_template(
        self, d: Definition, explicit: list[Any], types: list[CType], tree: Tree
    ) -> dict[str, Any] | None:
        if not d.parameters:
            return {} if not explicit else None
        scope: dict[str, Any] = {}
        for p, a in zip(d.parameters, explicit, strict=False):
            scope[p.name] = template_binding(a)
        declarator = child(tree, "function_declarator")
        assert declarator is not None
        for declared, t in zip(trees(declarator, "parameter_declaration"), types, strict=False):
            self._deduce(declared, t, d, scope)
        low = self.program.lowering(self.program)
        low.scopes = [d.scope, scope]
        for p in d.parameters:
            if p.name in scope or not p.name:
                continue
            if p.default is None:
                return None
            plain = strip(p.default)
            scope[p.name] = TypeName(low.type_id(plain)) if p.kind == "type" else Constant(low.constant(plain))
        return scope

    def _deduce(self, declaration: Tree, t: CType, d: Definition, scope: dict[str, Any]) -> None:
        """Bind the template parameters that one parameter's type mentions."""
        specifiers = child(declaration, "decl_specifiers")
        names = {p.name: p for p in d.parameters}
        if specifiers is None:
            return
        simple = child(specifiers, "simple_type_specifier")
        token = last_name(simple) if simple is not None and not child(simple, "class_template_id") else None
        name = str(token) if token is not None else ""
        declarator = child(declaration, "declarator", "abstract_declarator")
        pointers = 0
        arrays: list[Tree] = []
        if declarator is not None:
            pointers = sum(
                "*" in str(p.children[0])
                for p in trees(declarator, "ptr_operator")
                if not isinstance(p.children[0], Tree)
            )
            arrays = list(declarator.find_data("array_declarator")) + list(
                declarator.find_data("paren_array_declarator")
            )
        inner: CType = t
        for _ in range(pointers):
            if not isinstance(inner, Pointer):
                return
            inner = inner.to
        for a in arrays:
            extent = a.children[-1] if len(a.children) > 1 else None
            plain = strip(extent) if isinstance(extent, Tree) else None
            if isinstance(plain, Tree) and plain.data == "id_expression" and isinstance(inner, Array):
                value = str(last_name(plain))
                if value in names and value not in scope and isinstance(inner.extent, Const):
                    scope[value] = Constant(inner.extent)
            if isinstance(inner, Array):
                inner = inner.of
            elif isinstance(inner, Pointer):
                inner = inner.to
        if name in names and name not in scope and names[name].kind == "type" and inner != AUTO and inner != VOID:
            scope[name] = TypeName(inner)
        if simple is not None and (written := child(simple, "class_template_id")) is not None and not pointers:
            self._deduce_inside(written, inner, names, scope)

    def _deduce_inside(self, written: Tree, t: CType, names: Mapping[str, Any], scope: dict[str, Any]) -> None:
        """Bind the parameters of ``std::vector<T>``, ``thread_block_tile<W>`` and of a class template of the file."""
        template, t = str(last_name(written)), t.to if isinstance(t, Reference) else t
        own = self.program.struct_templates.get(template)
        known: list[Any] = []
        if template in CONTAINERS and isinstance(t, Pointer) and t.to not in (AUTO, VOID):
            known = [TypeName(t.to)]
        elif own is not None and isinstance(t, Struct) and t.name == template:
            inside = getattr(t.defined, "scope", {})
            known = [inside.get(p.name) for p in own[1]]
        elif template == "thread_block_tile" and isinstance(t, Tile):
            known = [Constant(Const(t.threads, INT32))]
        arguments = child(written, "template_arguments")
        for a, found in zip(
            trees(arguments, "template_argument") if arguments is not None else [], known, strict=False
        ):
            words = [str(w) for w in tokens(a)]
            if len(words) == 1 and words[0] in names and words[0] not in scope and found is not None:
                scope[words[0]] = found

    def _argument(self, p: Parameter, node: Tree) -> Any:
        """What is passed: a place for a reference that may be written, else a value."""
        if isinstance(p.type, Reference):
            if kind(strip(node)) != "braced_init_list" and self._is_place(strip(node)):
                place = self.place(node)
                if not p.const or not isinstance(place, VarPlace | Constant):
                    return place
                return self.read(place, node)
            if not p.const and not isinstance(p.type.to, Void):
                value = self.value(node)
                if isinstance(value, Lambda | Group | PointerValue):
                    return value
                return self.convert(value, p.type.to, node)
            value = self.value(node)
            if isinstance(value, Lambda | Group | PointerValue):
                return value
            return self.convert(value, p.type.to, node) if p.type.to != AUTO else value
        plain = strip(node)
        if isinstance(plain, Tree) and plain.data == "braced_init_list":
            return self.braced(plain, p.type)
        value = self.value(node)
        if isinstance(value, TypeName):
            raise self.refuse("KR101", "a type is passed as an argument", node)
        if isinstance(value, Lambda | Group | Text) or isinstance(p.type, Void):
            return value
        return self.convert(value, p.type, node)
