"""Names and members: what they mean, and the places that they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Tree

from kraise.frontends.cuda_c import vocabulary
from kraise.frontends.cuda_c.c_types import AXES, Struct
from kraise.frontends.cuda_c.constructs import Constructs
from kraise.frontends.cuda_c.structs import static_member
from kraise.frontends.cuda_c.trees import Node, last_name, strip
from kraise.frontends.cuda_c.unions import is_union_member, member_value
from kraise.frontends.cuda_c.values import (
    Alias,
    Bound,
    Cell,
    Constant,
    GlobalVariable,
    Group,
    Lambda,
    Named,
    PointerPlace,
    PointerValue,
    StructPlace,
    StructValue,
    TypeName,
    VarPlace,
)
from kraise.ir.kernel import Const, Hw
from kraise.ir.types import UINT32


class Names(Constructs):
    """Identifiers in expressions."""

    def _name(self, node: Tree) -> Any:
        name_token = last_name(node)
        if name_token is None:
            raise self.refuse("KR101", f"`{self.text(node)}` is not understood", node)
        name = str(name_token)
        c = self.raw_constant(name_token)
        if c is not None:
            return self.named_constant(name, c, node)
        entity = self.lookup(name)
        if entity is not None:
            if isinstance(entity, TypeName | Lambda | Group):
                return entity
            if isinstance(entity, Bound):
                return entity.value
            return self.read(self.entity_place(entity, name, node), node)
        hw = vocabulary.index_names().get(name)
        if hw is not None:
            return Hw(hw.kind, hw.axis, hw.type, span=self.span(node))
        if name in vocabulary.hardware():
            kind_ = vocabulary.hardware()[name]
            fields = tuple((a, Hw(kind_, k, UINT32, span=self.span(node))) for k, a in enumerate(AXES[:3]))
            dim3 = vocabulary.type_called("dim3")
            assert isinstance(dim3, Struct)
            return StructValue(dim3, fields)
        constant = vocabulary.constant(name)
        if constant is not None:
            return self.literal(Const(constant.value, constant.type, span=self.span(node)))
        value = self.trait(node)
        if value is not None:
            return value
        if any(d.kind == "device" for d in self.program.functions.get(name, [])):
            return Named(node, (), name)
        hint = vocabulary.refusal(name) or "declare it, include its header (-I DIR) or define it (-D NAME=VALUE)"
        raise self.refuse("KR102", f"the name `{name}` is not known here", node, hint)

    def trait(self, node: Tree) -> Any:
        """``std::numeric_limits<T>::max`` and static members of structs; None if it is neither."""
        return None

    def named_constant(self, name: str, c: Any, node: Node) -> Const:
        """A constant of the module under its own name, unless another value has taken the name."""
        c = self.literal(Const(c.value, c.type, span=self.span(node)))
        known = self.program.use_constant(name, c)
        return self.named(replace(c, name=name if known else ""))

    def _name_place(self, node: Tree) -> Any:
        name = last_name(node)
        entity = self.lookup(str(name)) if name is not None else None
        if isinstance(entity, VarPlace | Cell | StructPlace | PointerPlace | Alias | GlobalVariable):
            return self.entity_place(entity, str(name), node)
        if isinstance(entity, Constant):
            return entity
        raise self.refuse("KR102", f"the name `{name}` is not a variable that is known here", node)

    def _member(self, node: Tree) -> Any:
        base, symbol, member = node.children
        name = str(last_name(member) or "")
        plain = strip(base)
        if isinstance(plain, Tree) and plain.data == "id_expression" and str(symbol) == ".":
            variable = str(last_name(plain) or "")
            if variable in vocabulary.hardware() and self.lookup(variable) is None and name in AXES[:3]:
                return Hw(vocabulary.hardware()[variable], AXES.index(name), UINT32, span=self.span(node))
        if str(symbol) == "." and not self._is_place(plain):
            v = self.value(plain)
            if isinstance(v, StructValue) and is_union_member(v.type, name):
                return member_value(self, v, name, node)
            if isinstance(v, StructValue):
                found = v.field(name)
                if found is not None:
                    return found
                known = static_member(v.type, name)
                if known is not None:
                    return self.read(known, node)
            raise self.refuse("KR104", f"`.{name}` is taken of something that is no struct", node)
        return self.read(self._member_place(node), node)

    def _is_place(self, node: Node) -> bool:
        if not isinstance(node, Tree):
            return False
        if node.data == "id_expression":
            entity = self.lookup(str(last_name(node) or ""))
            return isinstance(entity, VarPlace | Cell | StructPlace | PointerPlace | Alias | GlobalVariable | Constant)
        if node.data == "member_expression" and str(node.children[1]) == ".":
            return self._is_place(strip(node.children[0]))
        if node.data == "unary_expression":
            return str(node.children[0]) == "*"
        return node.data in ("subscript_expression", "assignment_expression")

    def _member_place(self, node: Tree) -> Any:
        base, symbol, member = node.children
        name = str(last_name(member) or "")
        if str(symbol) == "->":
            pointer = self.value(base)
            if not isinstance(pointer, PointerValue):
                raise self.refuse("KR104", "`->` needs a pointer", node)
            return self.member(self.element(pointer, None, node), name, node)
        return self.member(self.place(base), name, node)
