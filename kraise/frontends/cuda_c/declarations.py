"""Declarations: specifiers and declarators to C types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lark import Token, Tree

from kraise.frontends.cuda_c import vocabulary
from kraise.frontends.cuda_c.base import Base
from kraise.frontends.cuda_c.c_types import (
    AUTO,
    CONTAINERS,
    FUNCTION,
    OBJECT,
    STORAGE,
    VOID,
    Array,
    Container,
    CType,
    Pointer,
    Reference,
    Struct,
    Tile,
    Void,
)
from kraise.frontends.cuda_c.collective_types import collective_type
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.host_names import callee, dropped
from kraise.frontends.cuda_c.trees import Node, child, last_name, strip, trees, words
from kraise.frontends.cuda_c.type_traits import made_type
from kraise.frontends.cuda_c.values import Constant, Group, Lambda, TypeName
from kraise.ir.kernel import Const, Expr
from kraise.ir.types import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    ScalarType,
)

_SIGNED = {"char": INT8, "short": INT16, "int": INT32, "long": INT64}
_UNSIGNED = {"char": UINT8, "short": UINT16, "int": UINT32, "long": UINT64}


@dataclass(frozen=True)
class Specifiers:
    """The type of a declaration and its other words (extern, __shared__, constexpr, const, static, …)."""

    type: CType
    words: frozenset[str]


class Declarations(Base):
    """Reads types."""

    of_class: bool = False  # is it a member of a class?
    library: Any = None  # of a host function: the value of a library call, None for any other call
    by_name = False  # may a function be a value: a kernel that is handed to a host function

    def specifiers(self, node: Tree) -> Specifiers:
        """``decl_specifiers`` or ``basic_type``. Raises Refused (KR104, KR102)."""
        flags: set[str] = set()
        builtin: list[str] = []
        found: CType | None = None
        for c in trees(node):
            match c.data:
                case "storage_class_specifier" | "function_specifier" | "cuda_specifier" | "type_qualifier":
                    flags.update(words(c))
                case "attribute_specifier":
                    flags.update(words(c)[:1])
                case "simple_type_specifier":
                    inner = child(c, "builtin_type")
                    if inner is not None:
                        builtin += words(inner)
                    else:
                        found = self.simple_type(c)
                case "typename_specifier":
                    found = self.simple_type(c)
                case "class_specifier":
                    found = self.program.define_struct(self, c)
                    if found.name:
                        self.declare(found.name, TypeName(found))
                case "elaborated_type_specifier":
                    found = self.simple_type(c)
                case "enum_specifier":
                    self.program.define_enum(self, c)
                    found = INT32
        if builtin:
            found = builtin_type(builtin)
        if found is None:
            raise self.refuse("KR104", f"the type `{self.text(node)}` is not understood", node)
        return Specifiers(found, frozenset(flags))

    def simple_type(self, node: Tree) -> CType:
        """A named type (typedef, struct, template parameter, CUDA's own), possibly with template arguments."""
        identifier = child(node, "class_template_id")
        if identifier is not None:
            name = last_name(identifier)
            if str(last_name(node)) == STORAGE.name:  # of a collective, whatever its threads
                return STORAGE
            return self.class_template(str(name), identifier)
        inner = next((c for c in node.children if isinstance(c, Tree) and c.data != "class_key"), None)
        if inner is not None and last_name(node) is None:  # decltype(expression)
            return self.type_of(inner)
        name = last_name(node)
        if name is None:
            raise self.refuse("KR104", f"the type `{self.text(node)}` is not understood", node)
        return self.named_type(str(name), node)

    def named_type(self, name: str, node: Node) -> CType:
        entity = self.lookup(name)
        if isinstance(entity, TypeName):
            return entity.type
        builtin = STORAGE if name == STORAGE.name else vocabulary.type_called(name)
        if builtin is not None:
            return builtin
        hint = vocabulary.refusal(name)
        if hint is not None:
            raise self.refuse("KR103", f"`{name}` is not raised", node, hint)
        raise self.refuse("KR102", f"the type `{name}` is not declared here", node, "is a header missing? give -I DIR")

    def class_template(self, name: str, node: Tree) -> CType:
        if name in ("thread_block_tile",):
            return Void(name)
        if vocabulary.collective(name) and name not in self.program.struct_templates:
            return collective_type(self, name, node)
        arguments = child(node, "template_arguments")
        values = self.template_arguments(arguments) if arguments is not None else []
        if (self.library is not None or self.of_class) and name in CONTAINERS and values:
            return Container(values[0], owns=name != "device_ptr")
        if self.of_class and name == "array" and len(values) == 2:
            return Array(values[0], values[1])
        if name in ("unique_ptr", "shared_ptr") and values and self.frees_only(values[1:]):
            return Pointer(values[0].of if isinstance(values[0], Array) else values[0])
        if name in vocabulary.opaque() and name not in self.program.struct_templates:
            return Void(name)
        if name not in self.program.items and (made := made_type(name, values)) is not None:
            return made
        return self.program.instantiate_struct(self, name, values, node)

    def frees_only(self, deleters: list[Any]) -> bool:
        """Do classes of the file only free: what a smart pointer calls at its end?"""
        methods = [
            m for d in deleters for ms in getattr(getattr(d, "defined", None), "methods", {}).values() for m in ms
        ]
        inner = [t for m in methods if m.tree is not None for t in m.tree.iter_subtrees()]
        works = any(t.data in ("launch_expression", "assignment_expression") for t in inner)
        return not works and all(dropped(callee(t.children[0])) for t in inner if t.data == "call_expression")

    def template_arguments(self, node: Tree) -> list[Any]:
        """Types and constants between angle brackets."""
        out: list[Any] = []
        for a in trees(node, "template_argument"):
            inner = a.children[0]
            if isinstance(inner, Tree) and inner.data == "type_id":
                out.append(self.type_id(inner))
            else:
                value = self.value(inner)
                known = fold(value)
                out.append(known if known is not None else value)
        return out

    def type_id(self, node: Tree) -> CType:
        """``const float *`` and the like, as in casts and sizeof."""
        base = self.specifiers(child(node, "decl_specifiers") or node).type
        abstract = child(node, "abstract_declarator")
        return self.abstract(abstract, base) if abstract is not None else base

    def abstract(self, node: Tree, base: CType) -> CType:
        for c in trees(node):
            if c.data == "ptr_operator":
                base = _pointer(c, base)
            elif c.data == "abstract_array":
                extent = self.expression_of(c.children[0]) if c.children else None
                base = Array(base, extent)
        return base

    def declarator(self, node: Tree, base: CType) -> tuple[Token | None, CType]:
        """Name and type of a declarator over the type of its specifiers."""
        pointers = trees(node, "ptr_operator")
        for p in pointers:
            base = _pointer(p, base)
        for c in trees(node):
            if c.data in ("declarator_id", "array_declarator", "paren_array_declarator", "function_pointer_declarator"):
                return self._direct(c, base)
        return None, base

    def _direct(self, node: Tree, base: CType) -> tuple[Token | None, CType]:
        match node.data:
            case "declarator_id":
                return last_name(node), base
            case "array_declarator":
                inner, *rest = [c for c in node.children if isinstance(c, Tree)]
                extent = self.expression_of(rest[0]) if rest else None
                return self._direct(inner, Array(base, extent))
            case "paren_array_declarator":
                inner = next(c for c in node.children if isinstance(c, Tree))
                rest = [c for c in node.children if isinstance(c, Tree)][1:]
                extent = self.expression_of(rest[0]) if rest else None
                return self.declarator(inner, Array(base, extent))
        if self.by_name:
            inner = next(c for c in node.children if isinstance(c, Tree))
            return self.declarator(inner, FUNCTION)[0], FUNCTION
        raise self.refuse("KR101", "function pointers are not raised", node, "call the function by its name")

    def expression_of(self, node: Node) -> Expr:
        """An array's extent: a constant where it can be one."""
        e = self.scalar(node)
        known = fold(e)
        return known if known is not None else e

    def constant(self, node: Node) -> Const:
        """A constant expression. Raises Refused (KR104)."""
        value = self.value(node)
        known = fold(value) if not isinstance(value, Constant) else value.value
        if known is None:
            raise self.refuse("KR104", f"`{self.text(node)}` is not a constant", node)
        return known

    def type_of(self, node: Node) -> CType:
        """The type of an expression (its side effects are dropped)."""
        with self.captured():
            value = self.value(strip(node))
        return self.type_of_value(value)

    def type_of_value(self, value: Any) -> CType:
        t = getattr(value, "type", None)
        if t is not None:
            return t
        if isinstance(value, Lambda | Group):
            return Tile("object", value.size) if isinstance(value, Group) and value.kind == "tile" else OBJECT
        to = getattr(value, "to", None)
        return Pointer(to) if to is not None else VOID


def _pointer(node: Tree, base: CType) -> CType:
    reference = child(node, "ref_operator")
    if reference is not None:
        return Reference(base)
    return Pointer(base)


def builtin_type(parts: list[str]) -> CType:
    """The type that C's own words name (``unsigned long long int``)."""
    if "auto" in parts:
        return AUTO
    if "void" in parts:
        return VOID
    if "bool" in parts:
        return BOOL
    if "double" in parts:
        return FLOAT64
    if "float" in parts:
        return FLOAT32
    table = _UNSIGNED if "unsigned" in parts else _SIGNED
    for word in ("char", "short", "long"):
        if word in parts:
            return table[word]
    return table["int"]


def element_of(t: CType) -> ScalarType | None:
    """The scalar type at the bottom of pointers and arrays, or None."""
    while isinstance(t, Pointer | Array | Reference):
        t = t.to if isinstance(t, Pointer | Reference) else t.of
    if isinstance(t, Struct) and t.vector:
        return t.members[0][1]  # type: ignore[return-value]
    return t if isinstance(t, ScalarType) else None
