"""Local declarations: scalars, arrays, shared memory, pointers, references, structs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.arithmetic import cast, signed
from kraise.frontends.cuda_c.arrays import Arrays
from kraise.frontends.cuda_c.c_types import AUTO, Array, CType, Pointer, Reference, Struct, Void, is_storage
from kraise.frontends.cuda_c.carriers import carrier
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.declarations import Specifiers
from kraise.frontends.cuda_c.effects import not_negative
from kraise.frontends.cuda_c.trees import Node, child, end, strip
from kraise.frontends.cuda_c.unions import BYTES
from kraise.frontends.cuda_c.usage import Usage, names_in
from kraise.frontends.cuda_c.values import (
    Alias,
    Cell,
    Constant,
    Group,
    Lambda,
    PointerPlace,
    PointerValue,
    StructPlace,
    StructValue,
    TypeName,
    VarPlace,
)
from kraise.ir.kernel import Assign, Const, Expr
from kraise.ir.types import INT32, ScalarType


class Variables(Arrays):
    """Declaration statements."""

    usage: Usage = Usage()
    roving: Mapping[str, tuple[str, ...]] = MappingProxyType({})  # pointers that change places, and with which
    block_end: int = 1 << 60
    carriers: Mapping[str, PointerValue] = MappingProxyType({})  # arrays that vectors are kept as

    def declaration(self, node: Tree) -> None:
        """One ``declaration`` node. Raises Refused."""
        if node.data != "declaration":
            if node.data == "structured_binding":
                raise self.refuse("KR101", "a structured binding is not raised", node)
            return
        inner = child(node, "alias_declaration")
        if inner is not None:
            self.declare(str(inner.children[0]), TypeName(self.type_id(inner.children[1])))  # type: ignore[arg-type]
            return
        if child(node, "using_declaration", "using_directive", "namespace_alias", "static_assert_declaration"):
            return
        specifier_node = child(node, "decl_specifiers")
        if specifier_node is None:
            return
        specifiers = self.specifiers(specifier_node)
        for item in node.children:
            if isinstance(item, Tree) and item.data in (
                "init_declarator",
                "constructor_declarator",
                "braced_declarator",
            ):
                self._declare_one(item, specifiers, node)
                self.flush()
            elif isinstance(item, Tree) and item.data == "function_declarator":
                return  # a prototype

    def _declare_one(self, item: Tree, specifiers: Specifiers, node: Tree) -> None:
        declarator = child(item, "declarator")
        assert declarator is not None
        token, t = self.declarator(declarator, specifiers.type)
        if token is None:
            return
        name = str(token)
        if "typedef" in specifiers.words:
            self.declare(name, TypeName(t))
            return
        initial = next((c for c in item.children if isinstance(c, Tree) and c is not declarator), None)
        arguments = None
        if item.data == "constructor_declarator":
            arguments = [c for c in item.children if isinstance(c, Tree) and c is not declarator]
        self.define(name, t, specifiers, initial, arguments, item)

    def define(
        self,
        name: str,
        t: CType,
        specifiers: Specifiers,
        initial: Tree | None,
        arguments: list[Tree] | None,
        item: Tree,
    ) -> None:
        """Declare a local variable and run its initializer."""
        words = specifiers.words
        if "static" in words and not words & {"const", "constexpr", "__shared__"}:
            raise self.refuse("KR299", f"the static local `{name}` keeps its value between calls: not raised", item)
        initial_tree = strip(initial) if initial is not None else None
        if is_storage(t):
            self.declare(name, Group("storage"))
        elif "__shared__" in words or isinstance(t, Array):
            self._define_array(name, t, specifiers, initial_tree, item)
        elif isinstance(t, Void) and t is not AUTO:
            self.declare(
                name, self.value(initial_tree) if initial_tree is not None and arguments is None else Group("block")
            )
        elif isinstance(t, Reference):
            self._define_reference(name, t.to, initial_tree, item)
        else:
            value = self._initial_value(t, initial_tree, arguments, item)
            if isinstance(value, Lambda | Group):
                self.declare(name, value)
                return
            if t == AUTO:
                if value is None:
                    raise self.refuse("KR104", f"`{name}` has no type", item)
                t = self.type_of_value(value)
            if isinstance(t, Pointer):
                if "volatile" in words and isinstance(value, PointerValue):
                    self.volatile.add(value.array)
                self._define_pointer(name, t, value, initial_tree, item)
            elif isinstance(t, Struct):
                place = carrier(self, name, t, item) or self.struct_place(name, t)
                self.declare(name, place)
                if value is not None:
                    self.write(place, value, item)
                elif initial_tree is None:
                    self.default_members(place, t, item, set())
            elif isinstance(t, ScalarType):
                self._define_scalar(name, t, value, bool(words & {"const", "constexpr"}), item)
            else:
                raise self.refuse("KR104", f"the type of `{name}` is not raised", item)

    def _initial_value(self, t: CType, initial: Node | None, arguments: list[Tree] | None, item: Tree) -> Any:
        if arguments is not None:
            return self.construct(t, arguments, item)
        if initial is None:
            return self.construct_struct(t, [], item) if isinstance(t, Struct) else None
        if isinstance(initial, Tree) and initial.data == "braced_init_list":
            if isinstance(t, Struct) and self.program.has_constructor(t):
                return self.construct(t, [c for c in initial.children if isinstance(c, Tree)], item)
            return self.braced(initial, t) if not isinstance(t, Pointer) else self.value(initial.children[0])
        value = self.value(initial)
        return value if t == AUTO or isinstance(value, Lambda) else self.convert(value, t, item)

    def _define_scalar(self, name: str, t: ScalarType, value: Any, constant: bool, item: Tree) -> None:
        known = fold(value) if constant and value is not None else None
        if known is not None and not self.usage.modified.get(name):
            if self.program.use_constant(name, known):
                known = replace(known, name=name)
            self.declare(name, Constant(known))
            return
        place = VarPlace(self.variable_name(name, t), t)
        if value is not None:
            self.write(place, value, item)
            if t.is_integer and not self.usage.modified.get(name) and not_negative(value, self.natural):
                self.natural.add(place.name)
        self.declare(name, place)

    def default_members(self, place: Any, t: Struct, node: Node, but: set[str]) -> None:
        """What the class itself says of members, except those that are given otherwise."""
        raise NotImplementedError

    def struct_place(self, name: str, t: Struct) -> StructPlace:
        """A local struct: one variable a member."""
        fields: list[tuple[str, Any]] = []
        for n, m in t.members:
            full = name if n == BYTES else f"{name}_{n}"
            if isinstance(m, ScalarType):
                fields.append((n, VarPlace(self.variable_name(full, m), m)))
            elif isinstance(m, Struct):
                fields.append((n, self.struct_place(full, m)))
            elif isinstance(m, Array):
                array = self.fresh(full)
                self._local_array(array, m, "local", (), None)
                fields.append((n, Cell(array, (), m)))
            elif isinstance(m, Pointer):
                fields.append((n, PointerPlace(full, m)))
            else:
                raise self.refuse("KR299", f"the member `{n}` of {t.name} is not raised")
        return StructPlace(t, tuple(fields))

    # --- arrays

    # --- pointers and references

    def _define_pointer(self, name: str, t: Pointer, value: Any, initial: Node | None, item: Tree) -> None:
        moves = self.usage.modified_in(name, end(item), self.block_end)
        place = PointerPlace(name, t, home=self.out)
        self.declare(name, place)
        if name in self.roving:
            if value is not None and value.arms is None and value.offset is not None:
                value = replace(value, offset=self.temporary(cast(signed(value.offset), INT32), f"{name}_offset", item))
            self.rove(place, self.roving[name], value, item)
            return
        if value is None:
            if moves:
                place.offset_name = self.fresh(f"{name}_offset")
            return
        if not isinstance(value, PointerValue):
            raise self.refuse("KR104", f"the pointer `{name}` is set from a number", item)
        if moves and value.target is None and value.arms is None:
            place.offset_name = self.fresh(f"{name}_offset")
            place.value = replace(value, offset=None)
            if value.array:
                self.emit(Assign(place.offset_name, self._offset(value), INT32, span=self.span(item)))
            return
        if value.arms is not None:
            c, a, b = value.arms
            if not isinstance(c, Const):
                value = replace(value, arms=(self.temporary(c, f"{name}_first", item), a, b))
        elif value.offset is not None and not self._stable(value.offset, initial, item):
            offset = self.temporary(cast(signed(value.offset), INT32), f"{name}_offset", item)
            value = replace(value, offset=offset)
        place.value = value

    def _stable(self, offset: Expr, initial: Node | None, item: Tree) -> bool:
        """Does this offset mean the same wherever the pointer is used?"""
        if initial is None or _has_load(offset):
            return False
        return not any(self.usage.modified_in(n, end(item), self.block_end) for n in names_in(initial))

    def _define_reference(self, name: str, t: CType, initial: Node | None, item: Tree) -> None:
        if initial is None:
            raise self.refuse("KR104", f"the reference `{name}` is not bound", item)
        try:
            place = self.place(initial)
        except Exception:  # a reference to a value: it keeps the value alive
            value = self.value(initial)
            if isinstance(value, Lambda | Group):
                self.declare(name, value)
                return
            if isinstance(value, PointerValue):
                self.declare(name, PointerPlace(name, Pointer(value.to), value))
                return
            kept = self.convert(value, t, item) if t != AUTO else value
            if isinstance(kept, StructValue):
                struct = self.struct_place(name, kept.type)
                self.declare(name, struct)
                self.write(struct, kept, item)
            else:
                self._define_scalar(name, kept.type, kept, False, item)
            return
        if isinstance(place, Constant):
            self.declare(name, place)
            return
        if isinstance(place, Cell):
            fixed = []
            for s in place.subscripts:
                known = isinstance(s, Const) or self._stable(s, initial, item)
                fixed.append(s if known else self.temporary(s, f"{name}_index", item))
            place = replace(place, subscripts=tuple(fixed))
        self.declare(name, Alias(place))


def _has_load(e: Any) -> bool:
    if type(e).__name__ in ("Load", "Call", "Warp"):
        return True
    arg = getattr(e, "arg", None)
    return any(_has_load(a) for a in (*getattr(e, "args", ()), *((arg,) if arg is not None else ())))
