"""Structs, class templates and enums of a file; the definitions of its functions and their template parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lark import Token, Tree

from kraise.diagnostics import Refused, refuse
from kraise.frontends.cuda_c.c_types import (
    Array,
    Container,
    CType,
    Pointer,
    Reference,
    Struct,
    Void,
    describe,
    is_storage,
    leaf,
)
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.scan import Item
from kraise.frontends.cuda_c.trees import Node, child, last_name, strip, trees, words
from kraise.frontends.cuda_c.unions import bytes_of
from kraise.frontends.cuda_c.values import Bound, Constant, TypeName
from kraise.ir.kernel import Const, Var
from kraise.ir.types import INT32, ScalarType

_NO_VALUE = Void("timeval")  # a point in time, whatever its clock; text, a table, a lock
_OF_LIBRARY = frozenset(
    ("std", "chrono", "string", "vector", "map", "unordered_map", "set", "list", "deque", "queue", "pair", "tuple",
     "mutex", "thread", "function", "shared_ptr", "unique_ptr", "ifstream", "ofstream", "stringstream", "ostream")
)  # fmt: skip
OWN = "class "  # the name under which the methods of a class find it
CONVERSION = "operator ()"  # the name under which ``operator T *()`` is kept


@dataclass(eq=False)
class TemplateParameter:
    """``kind``: type, value or pack; ``default`` a tree."""

    name: str
    kind: str
    default: Tree | None = None
    type: Tree | None = None


@dataclass(eq=False)
class Definition:
    """A function of the file; its tree is parsed when it is first needed."""

    name: str
    kind: str  # kernel, device, host
    item: Item | None = None
    tree: Tree | None = None
    parameters: list[TemplateParameter] = field(default_factory=list)
    owner: Struct | None = None
    scope: dict[str, Any] = field(default_factory=dict)
    also: tuple[Var, ...] = ()  # numbers that it returns beside the one that C lets it return


@dataclass(eq=False)
class StructDefinition:
    """Methods and constructors of a struct."""

    name: str
    methods: dict[str, list[Definition]] = field(default_factory=dict)
    constructors: list[Tree] = field(default_factory=list)
    bases: list[StructDefinition] = field(default_factory=list)
    defaults: dict[str, Tree] = field(default_factory=dict)  # initializers of its members
    scope: dict[str, Any] = field(default_factory=dict)
    union: tuple[tuple[str, CType], ...] = ()  # its members, where it is kept as its bytes
    inherited: set[str] = field(default_factory=set)  # methods of its bases that it does not define itself


def static_member(t: Any, name: str) -> Constant | None:
    """A constant that a class holds for all of its objects: ``static constexpr int size = …``."""
    found = t.defined.scope.get(name) if isinstance(t, Struct) and isinstance(t.defined, StructDefinition) else None
    return found if isinstance(found, Constant) else None


def is_virtual(method: Tree | None) -> bool:
    """Is a method looked for in the class of the object, whatever the pointer to it says?"""
    parts = [c for c in method.children if isinstance(c, Tree) and c.data != "compound_statement"] if method else []
    return any(w in ("virtual", "override", "final") for p in parts for w in words(p))


def template_binding(a: Any) -> Any:
    """What a template argument makes of its parameter: a constant, a type, or a value that is known at the launch."""
    if isinstance(a, Const):
        return Constant(a)
    return TypeName(a) if isinstance(a, ScalarType | Struct | Array | Void | Pointer | Reference) else Bound(a)


def template_parameters(node: Tree) -> list[TemplateParameter]:
    """The parameters of a ``template_declaration``."""
    out: list[TemplateParameter] = []
    for p in trees(node, "type_parameter", "value_parameter", "template_template_parameter"):
        if p.data == "type_parameter":
            name = next((str(c) for c in p.children if isinstance(c, Token) and c.type == "TYPE_NAME"), "")
            pack = any(isinstance(c, Token) and c.type == "ELLIPSIS" for c in p.children)
            out.append(TemplateParameter(name, "pack" if pack else "type", child(p, "type_id")))
        elif p.data == "value_parameter":
            inner = p.children[0]
            assert isinstance(inner, Tree)
            declarator = child(inner, "declarator")
            token = last_name(next(declarator.find_data("declarator_id"))) if declarator is not None else None
            default = next((c for c in trees(inner, "initializer_clause")), None)
            out.append(TemplateParameter(str(token or ""), "value", default, child(inner, "decl_specifiers")))
        else:
            raise refuse("KR101", "a template template parameter is not raised")
    return out


def _said(binding: Any) -> str:
    """What a template argument is, in words that are another's for no other argument."""
    t = getattr(binding, "type", None)
    if isinstance(t, Struct):
        return f"{t.name}<{', '.join(t.arguments)}>"
    return describe(t) if isinstance(binding, TypeName) and t is not None else str(getattr(binding, "value", binding))


class Structs:
    """The part of a program that defines types."""

    lowering: Any
    struct_templates: dict[str, tuple[Tree, list[TemplateParameter]]]
    struct_instances: dict[Any, Struct]
    specialised: dict[str, list[Item]]
    outside_methods: dict[str, list[Item]]  # by class: definitions of its methods that stand outside of it

    def parse(self, item: Item) -> Tree:
        raise NotImplementedError

    def entity(self, name: str) -> Any:
        raise NotImplementedError

    def use_constant(self, name: str, c: Const) -> bool:
        raise NotImplementedError

    def define_struct(
        self, low: Any, node: Tree, scope: dict[str, Any] | None = None, name: str = "", of: tuple[str, ...] = ()
    ) -> Struct:
        """The struct of a ``class_specifier``, of the template arguments ``of``; its methods are kept for later."""
        head = child(node, "class_head_name")
        key_word = child(node, "class_key")
        if not name:
            name = str(last_name(head) or "") if head is not None else ""
        definition = StructDefinition(name, scope=dict(scope or {}))
        members: list[tuple[str, CType]] = []
        for base in trees(node, "base_specifier"):
            found = low.simple_type(trees(base)[0])
            if isinstance(found, Struct):
                members += list(found.members)
                if isinstance(found.defined, StructDefinition):
                    definition.methods.update({n: list(ds) for n, ds in found.defined.methods.items()})
                    definition.inherited |= set(found.defined.methods)
                    definition.bases.append(found.defined)
        if name:
            low.declare(
                name, TypeName(Struct(name, (), defined=definition, arguments=of))
            )  # while its members are read
        for member in trees(node):
            match member.data:
                case "declaration":
                    outside, low.scopes = low.scopes, [*low.scopes, definition.scope]
                    try:
                        self._members(low, member, members, definition)
                    finally:
                        low.scopes = outside
                case "function_definition":
                    self.method(member, definition, [])
                case "template_declaration":
                    inner = member.children[-1]
                    if isinstance(inner, Tree) and inner.data == "function_definition":
                        self.method(inner, definition, template_parameters(member))
                case "constructor_definition":
                    definition.constructors.append(member)
                case "conversion_function":
                    found = Definition(CONVERSION, "device", None, member, [], scope=definition.scope)
                    definition.methods.setdefault(CONVERSION, []).append(found)
        if name in self.outside_methods:
            from kraise.frontends.cuda_c.outside import adopted

            template = self.struct_templates[name][1] if name in self.struct_templates else []
            adopted(self, node, definition, template, self.outside_methods[name])
        if key_word is not None and "union" in words(key_word) and not all(is_storage(t) for _, t in members):
            found = bytes_of(members)
            if found is None:
                reason = "a union of arrays of several widths, of pointers or of structs with padding is not raised"
                raise low.refuse("KR299", reason, node, "use a struct")
            definition.union, members = tuple(members), list(found)
        whole = Struct(name or f"struct_{low.span(node).line}", tuple(members), defined=definition, arguments=of)
        if name:
            definition.scope[name] = definition.scope[OWN] = TypeName(whole)  # for its methods
        return whole

    def _members(self, low: Any, member: Tree, members: list, definition: StructDefinition) -> None:
        specifier_node = child(member, "decl_specifiers")
        if specifier_node is None:
            return
        low.of_class = True
        try:
            specifiers = low.specifiers(specifier_node)
            base, marks = specifiers.type, specifiers.words
        except Refused:
            named = set(words(specifier_node))
            if not named & _OF_LIBRARY:
                raise
            base, marks = _NO_VALUE, frozenset(named)  # no part of the values
        finally:
            low.of_class = False
        if isinstance(base, Container) and leaf(base.to)[0] is None:  # of structs, of vectors
            base = _NO_VALUE
        for d in trees(member, "init_declarator", "braced_declarator"):
            declarator = child(d, "declarator")
            if declarator is None:
                continue
            token, t = low.declarator(declarator, base)
            if token is None:
                continue
            if "typedef" in marks or "static" in marks:
                if "static" in marks and marks & {"const", "constexpr"} and len(d.children) > 1:
                    known = fold(low.convert(low.value(d.children[-1]), t, d))
                    if known is not None:
                        definition.scope[str(token)] = Constant(known)
                continue
            members.append((str(token), t))
            if len(trees(d)) > 1:
                definition.defaults[str(token)] = trees(d)[-1]

    def method(self, node: Tree, definition: StructDefinition, template: list[TemplateParameter]) -> None:
        """A method of a class, by its definition."""
        head = child(node, "function_declarator")
        inner = child(head, "declarator") if head is not None else None
        declarator = child(inner, "declarator_id") if inner is not None else None
        if declarator is None:
            return
        symbol = next(declarator.find_data("operator_symbol"), None)
        token = last_name(declarator)
        name = "operator" + "".join(words(symbol)) if symbol is not None else str(token)
        found = Definition(name, "device", None, node, template, scope=definition.scope)
        if name in definition.inherited and all(is_virtual(d.tree) for d in definition.methods[name]):
            definition.methods[name] = []  # it replaces that of a class that this one is made of
        definition.inherited.discard(name)
        definition.methods.setdefault(name, []).append(found)

    def has_constructor(self, t: Struct) -> bool:
        """Does the file define a constructor of this struct?"""
        return isinstance(t.defined, StructDefinition) and bool(t.defined.constructors)

    def instantiate_struct(self, low: Any, name: str, arguments: list[Any], node: Node) -> Any:
        """A class template, or an alias template, for these arguments. Raises Refused (KR102)."""
        if name not in self.struct_templates:
            self.entity(name)
        if name not in self.struct_templates and name in ("pair", "tuple"):
            return self._pair(name, [template_binding(a) for a in arguments], node, low)
        if name not in self.struct_templates:
            raise low.refuse("KR102", f"the template `{name}` is not declared here", node)
        tree, parameters = self.struct_templates[name]
        own = self._specialisation(low, name, arguments)
        if own is not None:
            return own
        scope: dict[str, Any] = {}
        inner = self.lowering(self)
        inner.scopes = [scope]
        for k, p in enumerate(parameters):
            if k < len(arguments):
                a = arguments[k]
                scope[p.name] = template_binding(a)
                if isinstance(scope[p.name], Bound):
                    raise low.refuse("KR104", f"`{p.name}` of `{name}` is not a constant here", node)
            elif p.default is not None:
                plain = strip(p.default)
                if p.kind == "type":
                    scope[p.name] = TypeName(inner.type_id(plain))
                else:
                    scope[p.name] = Constant(inner.constant(plain))
        if tree.data == "alias_declaration":  # template <class T> using dev_ptr = std::unique_ptr<T, Free>
            inner.library, inner.of_class = low.library, low.of_class
            return inner.type_id(tree.children[1])  # type: ignore[no-any-return]
        key = (name, tuple((k, getattr(v, "type", None), getattr(v, "value", None)) for k, v in scope.items()))
        if key not in self.struct_instances:
            self.struct_instances[key] = self.define_struct(inner, tree, scope, name, tuple(map(_said, scope.values())))
        return self.struct_instances[key]

    def _pair(self, name: str, arguments: list[Any], node: Node, low: Any) -> Struct:
        """``std::pair`` and ``std::tuple``: structs with ``first`` and ``second``, or ``get_0``, ``get_1``, …"""
        if not all(isinstance(a, TypeName) for a in arguments) or (name == "pair" and len(arguments) != 2):
            raise low.refuse("KR102", f"the arguments of `std::{name}` are not types that are known here", node)
        members = ("first", "second") if name == "pair" else [f"get_{at}" for at in range(len(arguments))]
        key = (name, tuple(a.type for a in arguments))
        if key not in self.struct_instances:
            types = tuple((m, a.type) for m, a in zip(members, arguments, strict=True))
            of = tuple(map(_said, arguments))
            self.struct_instances[key] = Struct(name, types, defined=StructDefinition(name), arguments=of)
        return self.struct_instances[key]

    def _specialisation(self, low: Any, name: str, arguments: list[Any]) -> Struct | None:
        """What ``template <> struct name<arguments>`` defines, None where the file has none for these arguments."""
        for item in self.specialised.get(name, []):
            for tree in self.parse(item).find_data("class_specifier"):
                head = child(tree, "class_head_name")
                named = child(head, "class_template_id") if head is not None else None
                written = child(named, "template_arguments") if named is not None else None
                if (
                    named is None
                    or written is None
                    or str(last_name(named)) != name
                    or low.template_arguments(written) != arguments
                ):
                    continue
                key = (name, item.first)
                if key not in self.struct_instances:
                    inner = self.lowering(self)
                    inner.scopes = [{}]
                    self.struct_instances[key] = self.define_struct(inner, tree, {}, name, (f"as of {item.first}",))
                return self.struct_instances[key]
        return None

    def define_enum(self, low: Any, node: Tree) -> None:
        """Declare the enumerators of an ``enum_specifier``."""
        value = 0
        named = last_name(node)
        if named is not None:
            low.declare(str(named), TypeName(INT32))
        for e in trees(node, "enumerator"):
            token = e.children[0]
            assert isinstance(token, Token)
            if len(e.children) > 1:
                value = int(low.constant(e.children[1]).value)
            name = str(token)
            c = Const(value, INT32, name=name if self.use_constant(name, Const(value, INT32)) else "")
            low.declare(name, Constant(c))
            value += 1
