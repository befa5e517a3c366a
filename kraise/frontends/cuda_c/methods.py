"""Methods, operators and constructors of the file's own structs."""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.frontends.cuda_c import vocabulary
from kraise.frontends.cuda_c.c_types import VOID, Collective, CType, Pointer, Reference, Struct
from kraise.frontends.cuda_c.collectives import collective
from kraise.frontends.cuda_c.inline import Inline
from kraise.frontends.cuda_c.overloads import Parameter, distance
from kraise.frontends.cuda_c.specialised import specialised, specialises
from kraise.frontends.cuda_c.structs import CONVERSION, Definition, StructDefinition, static_member
from kraise.frontends.cuda_c.trees import Node, child, kind, last_name, strip, words
from kraise.frontends.cuda_c.type_traits import truth
from kraise.frontends.cuda_c.usage import usage
from kraise.frontends.cuda_c.values import (
    Alias,
    Bound,
    Group,
    Lambda,
    PointerPlace,
    PointerValue,
    StructValue,
    TypeName,
)
from kraise.ir.kernel import Const
from kraise.ir.types import FLOAT32, ScalarType


def _limit(t: ScalarType, what: str) -> Any:
    if t.is_integer:
        bits = t.bits or 64
        low, high = (0, (1 << bits) - 1) if t.kind == "uint" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        return Const({"max": high, "min": low, "lowest": low}.get(what, high), t)
    name = {
        ("max", 32): "FLT_MAX",
        ("min", 32): "FLT_MIN",
        ("epsilon", 32): "FLT_EPSILON",
        ("max", 64): "DBL_MAX",
        ("min", 64): "DBL_MIN",
        ("epsilon", 64): "DBL_EPSILON",
    }.get((what, t.bits or 64))
    if what == "infinity":
        return Const(float("inf"), t)
    if what == "quiet_NaN":
        return Const(float("nan"), t)
    if what == "lowest":
        c = vocabulary.constant("FLT_MAX" if t.bits == 32 else "DBL_MAX")
        return Const(-c.value, t) if c is not None else None  # type: ignore[operator]
    c = vocabulary.constant(name) if name else None
    return Const(c.value, t) if c is not None else None


class Methods(Inline):
    """Member functions are lowered in place; members are other names for parts of the object."""

    def _methods(self, t: CType, name: str) -> list[Definition]:
        if isinstance(t, Struct) and isinstance(t.defined, StructDefinition):
            return t.defined.methods.get(name, [])
        return []

    def _method_call(self, callee: Tree, arguments: list[Tree], node: Tree) -> Any:
        base, symbol, member = callee.children
        name = str(last_name(member) or "")
        operator = next(member.find_data("operator_symbol"), None) if isinstance(member, Tree) else None
        if operator is not None:
            name = "operator" + "".join(str(t) for t in operator.children)
        if str(symbol) == "->":
            pointer = self.value(base)
            if not isinstance(pointer, PointerValue):
                raise self.refuse("KR104", "`->` needs a pointer", node)
            target = self.element(pointer, None, node)
        else:
            plain = strip(base)
            value = self.value(plain) if not self._is_place(plain) else None
            if value is None:
                entity = self.lookup(str(last_name(plain) or "")) if kind(plain) == "id_expression" else None
                value = entity if isinstance(entity, Group | Lambda) else None
            if isinstance(value, Collective):
                return collective(self, value, name, arguments, node)
            if isinstance(value, Group):
                return self.group_method(value, name, arguments, node)
            target = self.place(plain) if value is None else Bound(value)
        while isinstance(target, Alias):
            target = target.place
        t = target.value.type if isinstance(target, Bound) else getattr(target, "type", None)
        methods = self._methods(t, name)  # type: ignore[arg-type]
        if not methods:
            raise self.refuse("KR103", f"the method `{name}` is not known", node)
        return self._inline_method(methods, target, arguments, node)

    def _functor(self, value: Any, callee: Tree, arguments: list[Tree], node: Tree) -> Any:
        t = getattr(value, "type", None)
        methods = self._methods(t, "operator()")  # type: ignore[arg-type]
        if not methods:
            raise self.refuse("KR103", f"`{self.text(callee)}` cannot be called", node)
        return self._inline_method(methods, Bound(value), arguments, node)

    def _inline_method(self, methods: list[Definition], target: Any, arguments: list[Tree], node: Tree) -> Any:
        d, scope, parameters, returns = self._choose(methods[0].name, methods, [], arguments, node)
        if len(arguments) < len(parameters):
            arguments = [*arguments, *[strip(p.default) for p in parameters[len(arguments) :] if p.default is not None]]  # type: ignore[list-item]
        bound = [self._argument(p, a) for p, a in zip(parameters, arguments, strict=False)]
        return self._inline(d, self.program.load(d), scope, parameters, bound, returns, node, self._members_of(target))

    def converted(self, value: StructValue, to: CType, node: Node | None) -> Any:
        for d in self._methods(value.type, CONVERSION):
            assert d.tree is not None and isinstance(node, Tree)
            low = self.program.lowering(self.program)
            low.scopes = [d.scope]
            written = child(d.tree, "type_id")
            if written is not None and low.type_id(written) == to:
                return self._inline(d, d.tree, {}, [], [], to, node, self._members_of(Bound(value)))
        return None

    def _qualified_struct(self, callee: Tree) -> Struct | None:
        """The struct of ``S::f`` and ``S<int>::f``, or None."""
        template = next((c for c in callee.children if isinstance(c, Tree) and c.data == "class_template_id"), None)
        if template is not None and str(last_name(template)) in self.program.items:
            t = self.class_template(str(last_name(template)), template)
            return t if isinstance(t, Struct) else None
        names = [str(c) for c in callee.children if not isinstance(c, Tree) and c.type == "NAMESPACE_NAME"]
        entity = self.lookup(names[-1]) if names else None
        return entity.type if isinstance(entity, TypeName) and isinstance(entity.type, Struct) else None

    def _members_of(self, target: Any) -> dict[str, Any]:
        """The scope of a method's body: the members, and ``this``."""
        if target is None:  # a static method
            return {}
        if isinstance(target, Bound):
            value = target.value
            kept = {n: Bound(v) for n, v in value.fields}
            pointer = PointerValue("", (), None, value.type, target=target)
            return {**kept, "this": PointerPlace("this", Pointer(value.type), pointer)}
        t = target.type
        members: dict[str, Any] = {n: Alias(self.member(target, n)) for n, _ in t.members}
        pointer = PointerValue("", (), None, t, target=target)
        return {**members, "this": PointerPlace("this", Pointer(t), pointer)}

    def overloaded(self, name: str, values: tuple[Any, ...], node: Tree) -> Any:
        """The file's own operator for these operands, lowered in place; None if there is none."""
        found = self._operator(name, values, node)
        if found is None:
            return None
        d, scope, parameters, returns, own = found
        bound = [self._operand(p, v, node) for p, v in zip(parameters, values[own:], strict=True)]
        members = self._members_of(Bound(values[0])) if own else None
        return self._inline(d, self.program.load(d), scope, parameters, bound, returns, node, members)

    def _operator(
        self, name: str, values: tuple[Any, ...], node: Tree
    ) -> tuple[Definition, dict[str, Any], list[Parameter], CType, bool] | None:
        """The nearest operator for these operands, a function or (``own``) a method of the first one."""
        best: tuple[int, Any] | None = None
        types = [self.type_of_value(v) for v in values]
        functions = self.program.functions.get(name, [])
        free = [(d, False) for d in functions if not specialises(self.program, d)]
        for d, own in (*free, *((d, True) for d in self._methods(types[0], name))):
            tree = self.program.load(d)
            scope = self._bind_template(d, [], types[own:], tree)
            if scope is None:
                continue
            parameters, returns = self._signature(d, tree, scope)
            apart = [distance(p.type, t) for p, t in zip(parameters, types[own:], strict=False)]
            if len(parameters) != len(values) - own or None in apart:
                continue
            score = 2 * bool(d.parameters) + sum(x or 0 for x in apart)
            if best is None or score < best[0]:
                alone = d if own else specialised(self, d, scope, functions, node)
                if alone is not d:
                    scope, (parameters, returns) = {}, self._signature(alone, self.program.load(alone), {})
                best = (score, (alone, scope, parameters, returns, own))
        return None if best is None else best[1]

    def _operand(self, p: Parameter, v: Any, node: Tree) -> Any:
        t = p.type.to if isinstance(p.type, Reference) else p.type
        return self.convert(v, t, node)

    def overloaded_assignment(self, name: str, place: Any, value: Any, node: Tree) -> bool:
        """A user-defined ``operator+=``: its first operand is the place."""
        found = self._operator(name, (self.read(place, node), value), node)
        if found is None:
            return False
        d, scope, parameters, _, own = found
        last = self._operand(parameters[-1], value, node)
        target = place.place if own and isinstance(place, Alias) else place
        bound = [last] if own else [place, last]
        members = self._members_of(target) if own else None
        self._inline(d, self.program.load(d), scope, parameters, bound, VOID, node, members)
        return True

    def construct_struct(self, t: Struct, arguments: list[Any], node: Tree) -> Any:
        """A constructor of the file: its members in turn, then its body."""
        definition = t.defined
        if not isinstance(definition, StructDefinition) or not definition.constructors:
            return None
        tree = self._constructor(definition, arguments, node)
        if tree is None:
            return None
        parameters = self.parameters(tree)
        bound = [self._argument(p, a) for p, a in zip(parameters, arguments, strict=False)]
        place = self.struct_place(self._struct_name("object"), t)
        body = child(tree, "compound_statement")
        reserved, self.reserved = self.reserved, frozenset(self.names)
        saved, self.scopes = self.scopes, [definition.scope, self._members_of(place), {}]
        used, self.usage = self.usage, usage(tree)
        try:
            rest = parameters[len(arguments) :]
            for p, b in zip(parameters, bound, strict=False):
                self._bind(p, b, node)
            for p in rest:
                self._bind(p, self.convert(self.value(p.default), p.type, node), node)  # type: ignore[arg-type]
            written = list(tree.find_data("member_initializer"))
            self.default_members(place, t, node, {str(last_name(m.children[0]) or "") for m in written})
            for m in written:
                name = str(last_name(m.children[0]) or "")
                values = [strip(c) for c in m.children[1:] if isinstance(c, Tree)]
                target = self.member(place, name, node)
                if len(values) == 1 and kind(values[0]) != "braced_init_list":
                    self.write(target, self.convert(self.value(values[0]), target.type, node), node)
                else:
                    self.write(target, self.construct(target.type, values, node), node)  # type: ignore[arg-type]
            if body is not None:
                self.statement(body)
        finally:
            self.scopes, self.usage = saved, used
            self.reserved = reserved
        return self.read(place, node)

    def _constructor(self, definition: StructDefinition, arguments: list[Any], node: Tree) -> Tree | None:
        """The constructor that these arguments mean: the nearest one, as for functions. None for a copy, and where the
        compiler makes it."""
        found: list[tuple[int, Tree]] = []
        types: list[CType] | None = None
        for tree in definition.constructors:
            ends = child(tree, "function_end")
            if any(str(c) == "~" for c in tree.children) or (ends is not None and "default" in words(ends)):
                continue
            parameters = self.parameters(tree)
            required = sum(p.default is None for p in parameters)
            if not required <= len(arguments) <= len(parameters):
                continue
            if len(arguments) == 1 and len(parameters) == 1 and isinstance(parameters[0].type, Reference):
                own = parameters[0].type.to
                if isinstance(own, Struct) and own.name == definition.name:
                    continue  # a copy
            types = [self._argument_type(a) for a in arguments] if types is None else types
            apart = [distance(p.type, a) for p, a in zip(parameters, types, strict=False)]
            if None not in apart:
                found.append((sum(x or 0 for x in apart), tree))
        if not found and types is not None and len(arguments) > 1:
            raise self.refuse("KR103", f"no constructor of {definition.name} takes these arguments", node)
        if not found:
            return None
        least = min(far for far, _ in found)
        best = [tree for far, tree in found if far == least]
        if len(best) > 1 or child(best[0], "compound_statement") is None:
            reason = f"which constructor of {definition.name} is meant, or what it does, is not known here"
            raise self.refuse("KR103", reason, node, "define one constructor for these types")
        return best[0]

    def default_members(self, place: Any, t: Struct, node: Node, but: set[str]) -> None:
        """What the class itself says of members (``float a = 5;``), except those that are given otherwise."""
        for name, m in t.members:
            if name not in but and (value := self.member_default(t, name, m, node)) is not None:
                self.write(self.member(place, name, node), value, node)

    def member_default(self, t: Struct, name: str, m: CType, node: Node) -> Any:
        """The value that a class gives a member where it is declared; None where it gives none."""
        owners = [t.defined]
        for owner in owners:
            if not isinstance(owner, StructDefinition):
                continue
            if name in owner.defaults:
                tree = strip(owner.defaults[name])
                saved, self.scopes = self.scopes, [owner.scope]
                try:
                    braced = isinstance(tree, Tree) and tree.data == "braced_init_list"
                    return self.braced(tree, m) if braced else self.convert(self.value(tree), m, node)  # type: ignore[arg-type]
                finally:
                    self.scopes = saved
            owners += owner.bases
        return None

    def subscripted(self, base: Node, value: StructValue, index: Node, node: Tree) -> Any:
        """``object[index]`` by the class's own ``operator[]``: the place that it returns a reference to, or its value;
        None where the class has none."""
        methods = self._methods(value.type, "operator[]")
        if not methods or not isinstance(index, Tree):
            return None
        target = self.place(base) if self._is_place(base) else Bound(value)
        while isinstance(target, Alias):
            target = target.place
        self.last_reference = None
        value = self._inline_method(methods, target, [index], node)
        return Bound(value) if self.last_reference is None else self.last_reference

    def _truth(self, name: str, arguments: Tree | None) -> Any:
        """``std::is_same<T, float>::value``: None where types that are one here may be two in C++."""
        if arguments is None or name in self.program.items or "const" in words(arguments):
            return None
        return truth(name, self.template_arguments(arguments))

    def trait(self, node: Tree) -> Any:
        """``std::numeric_limits<T>::max()``, and the constants of classes: ``Pack<float>::size``."""
        owner = self._qualified_struct(node)
        if owner is not None:
            known = static_member(owner, str(last_name(node)))
            return None if known is None else self.read(known, node)
        template = next(node.find_data("class_template_id"), None)
        if template is None:  # is_same_v<T, float>
            spelled = child(node, "template_arguments")
            return self._truth(str(last_name(node)), spelled) if str(last_name(node)).endswith("_v") else None
        arguments = child(template, "template_arguments")
        if str(last_name(node)) == "value":
            return self._truth(str(last_name(template)), arguments)
        if str(last_name(template)) != "numeric_limits":
            return None
        t = self.template_arguments(arguments)[0] if arguments is not None else FLOAT32
        what = str(last_name(node))
        if not isinstance(t, ScalarType):
            return None
        return _limit(t, what)
