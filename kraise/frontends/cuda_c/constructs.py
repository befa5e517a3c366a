"""Values that are written down: literals, casts, initializers in braces, sizeof, lambdas."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.c_types import Array, Container, CType, Pointer, Struct, Void, leaf
from kraise.frontends.cuda_c.declarations import builtin_type
from kraise.frontends.cuda_c.doubles import in_doubles
from kraise.frontends.cuda_c.numbers import literal, wrap
from kraise.frontends.cuda_c.places import Places
from kraise.frontends.cuda_c.strings import code
from kraise.frontends.cuda_c.trees import Node, child, kind, last_name, strip, trees, words
from kraise.frontends.cuda_c.unions import as_bytes, union_members
from kraise.frontends.cuda_c.values import (
    Cell,
    Lambda,
    NoValue,
    PointerPlace,
    PointerValue,
    StructPlace,
    StructValue,
    Text,
    TypeName,
    VarPlace,
)
from kraise.ir.kernel import Const, Expr, Op
from kraise.ir.types import BOOL, FLOAT32, INT8, UINT64, ScalarType


class Constructs(Places):
    """Literals and types in expressions."""

    def _number(self, node: Tree) -> Any:
        c = literal(str(node.children[0]))
        if c is None:
            raise self.refuse("KR101", f"the number `{node.children[0]}` is not understood", node)
        return self.literal(replace(c, span=self.span(node)))

    def _character(self, node: Tree) -> Any:
        body = str(node.children[0]).split("'", 1)[1][:-1]
        return replace(wrap(code(body), INT8), span=self.span(node))  # char is signed: '\xff' is -1

    def _boolean(self, node: Tree) -> Any:
        return Const(str(node.children[0]) == "true", BOOL, span=self.span(node))

    def _null(self, node: Tree) -> Any:
        return PointerValue("", (), None, Void())

    def _this(self, node: Tree) -> Any:
        entity = self.lookup("this")
        if entity is None:
            raise self.refuse("KR102", "`this` stands outside of a method", node)
        return self.read(entity, node)

    def _cast(self, node: Tree) -> Any:
        t = self.type_id(node.children[0])  # type: ignore[arg-type]
        return self.cast_to(self.value(node.children[1]), t, node)

    def _cxx_cast(self, node: Tree) -> Any:
        target = child(node, "type_id")
        assert target is not None
        return self.cast_to(
            self.value(node.children[-2] if kind(node.children[-1]) == "TARG_CLOSE" else node.children[-1]),
            self.type_id(target),
            node,
        )

    def cast_to(self, v: Any, t: CType, node: Node) -> Any:
        """An explicit conversion."""
        if isinstance(t, Pointer):
            if isinstance(v, PointerValue):
                return self.cast_pointer(v, t, node)
            if isinstance(v, Const) and v.value == 0:
                return PointerValue("", (), None, t.to)
        if isinstance(t, Void):
            return NoValue()
        if t == FLOAT32 and isinstance(v, Const | Op) and (known := in_doubles(v, self.program.doubles)) is not None:
            return Const(known.value, t, span=self.span(node))  # a float from here on
        return self.convert(v, t, node)

    def cast_pointer(self, v: PointerValue, t: Pointer, node: Node) -> PointerValue:
        """A pointer seen as another type: allowed where it changes nothing, or for float4 <-> float (handled above)."""
        raise NotImplementedError

    def _functional_cast(self, node: Tree) -> Any:
        specifier = node.children[0]
        assert isinstance(specifier, Tree)
        inner = child(specifier, "builtin_type")
        t = builtin_type(words(inner)) if inner is not None else self.simple_type(specifier)
        return self.construct(t, [c for c in node.children[1:] if isinstance(c, Tree)], node)

    def construct(self, t: CType, arguments: list[Any], node: Tree) -> Any:
        """``T(a, b)``."""
        raise NotImplementedError

    def _braced_cast(self, node: Tree) -> Any:
        specifier = node.children[0]
        assert isinstance(specifier, Tree)
        t = (
            self.specifiers(Tree("decl_specifiers", [specifier], specifier.meta)).type
            if kind(specifier) != "type_id"
            else self.type_id(specifier)
        )
        return self.braced(node.children[-1], t)  # type: ignore[arg-type]

    def braced(self, node: Tree, t: CType) -> Any:
        """``{a, b}`` as a value of type ``t``."""
        items = [c for c in node.children if isinstance(c, Tree)]
        if isinstance(t, ScalarType):
            if not items:
                return Const(0.0 if t.is_inexact else 0, t) if t != BOOL else Const(False, BOOL)
            return self.convert(self.value(items[0]), t, node)
        if isinstance(t, Struct):
            built = (
                self.construct_struct(t, items, node)
                if all(i.data != "designated_initializer" for i in items)
                else None
            )
            if built is not None:
                return built
            values: dict[str, Any] = {}
            for k, item in enumerate(items):
                own = union_members(t) or t.members
                name = own[k][0] if k < len(t.members) else ""
                inner: Node = item
                if item.data == "designated_initializer":
                    name, inner = str(item.children[0]), item.children[-1]
                member = dict(own).get(name)
                if member is None:
                    raise self.refuse("KR104", f"too many values for {t.name}", node)
                inner = strip(inner)
                if isinstance(inner, Tree) and inner.data == "braced_init_list":
                    values[name] = self.braced(inner, member)
                else:
                    values[name] = self.convert(self.value(inner), member, node)
                if union_members(t):
                    return as_bytes(self, t, name, values[name], node)
            return StructValue(
                t, tuple((n, values[n] if n in values else self.left_out(t, n, m, node)) for n, m in t.members)
            )
        raise self.refuse("KR101", "this initializer is not raised", node)

    def left_out(self, t: Struct, name: str, m: CType, node: Node) -> Any:
        """The value of a member that an initializer does not give: what the class says, or 0."""
        own = self.member_default(t, name, m, node)
        return self.zero(m, node) if own is None else own

    def construct_struct(self, t: Struct, arguments: list[Any], node: Tree) -> Any:
        """A constructor that the file defines; None if there is none."""
        raise NotImplementedError

    def member_default(self, t: Struct, name: str, m: CType, node: Node) -> Any:
        """The value that a class gives a member where it is declared; None where it gives none."""
        raise NotImplementedError

    def zero(self, t: CType, node: Node) -> Any:
        """The value of a member that an initializer leaves out."""
        if isinstance(t, ScalarType):
            return Const(False if t == BOOL else 0.0 if t.is_inexact else 0, t)
        if isinstance(t, Struct):
            return StructValue(t, tuple((n, self.left_out(t, n, m, node)) for n, m in t.members))
        if isinstance(t, Pointer):
            return PointerValue("", (), None, t.to)
        raise self.refuse("KR101", "this initializer is not raised", node)

    def _sizeof(self, node: Tree) -> Any:
        operand = node.children[-1]
        t = self.type_id(operand) if kind(operand) == "type_id" else self._operand_type(operand)  # type: ignore[arg-type]
        n = self.size_of(t)
        if str(node.children[0]) == "sizeof" and (size := self.size_held(operand, n)) is not None:
            return replace(size, span=self.span(node))
        raise self.refuse("KR299", "the size of this type is not known", node)

    def size_held(self, operand: Node, of_type: int | None) -> Expr | None:
        """The bytes of what ``sizeof`` is asked of, whose type has ``of_type`` of them."""
        return None if of_type is None else Const(of_type, UINT64)

    def _operand_type(self, operand: Node) -> CType:
        operand = strip(operand)
        if isinstance(operand, Tree) and operand.data == "id_expression":
            entity = self.lookup(str(last_name(operand) or ""))
            if isinstance(entity, TypeName | VarPlace | Cell | StructPlace | PointerPlace):
                return entity.type
        row = isinstance(operand, Tree) and operand.data in ("subscript_expression", "unary_expression")
        if row and (operand.data == "subscript_expression" or str(operand.children[0]) == "*"):  # type: ignore[union-attr]
            owner = strip(trees(operand)[0])  # type: ignore[arg-type]
            if isinstance(owner, Tree) and owner.data in ("id_expression", "subscript_expression", "unary_expression"):
                whole = self._operand_type(owner)  # a row of float a[3][4] has 16 bytes, and is no pointer
                inner = getattr(whole, "of", None) if isinstance(whole, Array) else getattr(whole, "to", None)
                if isinstance(inner, Array):
                    return inner
        return self.type_of(operand)

    def size_of(self, t: CType) -> int | None:
        """Bytes of a type, or None."""
        match t:
            case ScalarType():
                return (t.bits or 64) // 8
            case Container():
                return None
            case Pointer():
                return 8
            case Array(of, extent) if isinstance(extent, Const):
                inner = self.size_of(of)
                return inner * int(extent.value) if inner is not None else None  # type: ignore[arg-type]
            case Struct(_, members) if leaf(t)[0] is not None:
                sizes = [self.size_of(m) for _, m in members]
                return sum(s or 0 for s in sizes)
            case Struct(_, members):
                offset, widest = 0, 1
                for _, m in members:
                    size = self.size_of(m)
                    if size is None:
                        return None
                    align = self._alignment(m, size)
                    offset = -(-offset // align) * align + size
                    widest = max(widest, align)
                return -(-offset // widest) * widest
        return None

    def _alignment(self, t: CType, size: int) -> int:
        """Where a member of a struct may start: at a multiple of this."""
        if isinstance(t, Array):
            return self._alignment(t.of, self.size_of(t.of) or 1)
        if isinstance(t, Struct) and leaf(t)[0] is None:
            return max((self._alignment(m, self.size_of(m) or 1) for _, m in t.members), default=1)
        if isinstance(t, Struct) and len(t.members) == 3:
            return size // 3
        return size

    def _string(self, node: Tree) -> Any:
        return Text()

    def _statement_expression(self, node: Tree) -> Any:
        """GNU's ``({ int t = a; t * t; })``: the value of its last statement."""
        compound = node.children[0]
        assert isinstance(compound, Tree)
        *first, last = [c for c in compound.children if isinstance(c, Tree)]
        with self.scope():
            for s in first:
                self.statement(s)
            if last.data != "expression_statement" or not last.children:
                self.statement(last)
                return NoValue()
            value = self.value(last.children[0])
            if isinstance(value, StructValue | PointerValue | NoValue | Lambda):
                self.flush()
                return value
            return self.temporary(value, "t", node) if not isinstance(value, Const) else value

    def _lambda(self, node: Tree) -> Any:
        return Lambda(node, tuple(self.scopes))
