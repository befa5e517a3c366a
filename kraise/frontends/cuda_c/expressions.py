"""Expressions: a table from the grammar's rules to what they mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lark import Token, Tree

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c import numbers
from kraise.frontends.cuda_c.arithmetic import is_simple, signed
from kraise.frontends.cuda_c.c_types import CType
from kraise.frontends.cuda_c.names import Names
from kraise.frontends.cuda_c.trees import Node, kind, strip, tokens
from kraise.frontends.cuda_c.values import (
    Cell,
    Group,
    Lambda,
    NoValue,
    PointerValue,
    StructValue,
    Text,
)
from kraise.ir.kernel import Assign, Const, Expr, If, Op, Var
from kraise.ir.types import BOOL, FLOAT64, INT32, ScalarType

_BINARY_RULES = frozenset(
    [
        "inclusive_or_expression",
        "exclusive_or_expression",
        "and_expression",
        "equality_expression",
        "relational_expression",
        "shift_expression",
        "additive_expression",
        "multiplicative_expression",
    ]
)


class Expressions(Names):
    """Trees to values and places."""

    def value(self, node: Node) -> Any:
        """The value of an expression. Raises Refused for what is not handled."""
        node = strip(node)
        rule = kind(node)
        if isinstance(node, Token):
            raise self.refuse("KR101", f"`{node}` is not understood here", node)
        if self.library is not None and (found := self.library(node)) is not None:
            return found
        if rule in _BINARY_RULES:
            return self._binary(node)
        handler = _VALUES.get(rule)
        if handler is None:
            raise self.refuse("KR101", f"{rule.replace('_', ' ')} is not raised", node)
        return handler(self, node)

    def scalar(self, node: Node) -> Expr:
        """The scalar value of an expression."""
        return self.rvalue(self.value(node), node)

    def truth(self, node: Node) -> Expr:
        """An expression as a condition."""
        return self.condition(self.value(node), node)

    def place(self, node: Node) -> Any:
        """The place that an expression names. Raises Refused (KR101) for what cannot be assigned."""
        node = strip(node)
        if isinstance(node, Tree):
            handler = _PLACES.get(str(node.data))
            if handler is not None:
                return handler(self, node)
        raise self.refuse("KR101", f"`{self.text(node)}` cannot be assigned", node)

    last_reference: Any = None  # the place that the call lowered last has returned a reference to

    # --- operators

    def _binary(self, node: Tree) -> Any:
        # left-leaning chains are walked, not recursed into: generated code has thousands of operands
        chain: list[tuple[Tree, str, Node]] = []
        left: Node = node
        while isinstance(left, Tree) and left.data in _BINARY_RULES and len(left.children) == 3:
            inner, symbol, right = left.children
            chain.append((left, str(symbol), right))
            left = strip(inner) if not isinstance(inner, Tree) or inner.data in _BINARY_RULES else inner
        value = self.value(left)
        for tree, symbol, right in reversed(chain):
            other = self.value(right)
            value = self.operate(symbol, value, other, tree)
        return value

    def operate(self, symbol: str, a: Any, b: Any, node: Tree) -> Any:
        """A binary operator: the file's own for structs, else the built-in one."""
        if isinstance(a, StructValue) or isinstance(b, StructValue):
            found = self.overloaded(f"operator{symbol}", (a, b), node)
            if found is not None:
                return found
        return self.binary(symbol, a, b, self.span(node), node)

    def overloaded(self, name: str, values: tuple[Any, ...], node: Tree) -> Any:
        """The result of a user-defined operator, or None if there is none for these operands."""
        raise NotImplementedError

    def _logical(self, node: Tree) -> Any:
        left, symbol, right = node.children
        a = self.truth(left)
        with self.captured() as before:
            self.flush()
        if before:  # `i++ && …`: the value first, then its side effects, then the right side
            a = self.temporary(a, "t", left)
            self.out.extend(before)
        is_and = str(symbol) == "&&"
        if isinstance(a, Const) and bool(a.value) is not is_and:  # the right side is not looked at: `p && *p`
            return Const(not is_and, BOOL, span=self.span(node))
        with self.captured() as statements:
            b = self.settled(self.truth(right), right)
        if not statements:
            return self.binary(str(symbol), a, b, self.span(node))
        t = self.temporary(a, "t", node)
        statements.append(Assign(t.name, b, BOOL, span=self.span(right)))
        body = tuple(statements)
        c = t if is_and else Op("not", (t,), BOOL, span=self.span(left))
        self.emit(If(c, body, span=self.span(node)))
        return t

    def settled(self, v: Any, node: Node) -> Any:
        """A value taken before its own postponed side effects happen."""
        if self.after:
            if not isinstance(v, StructValue | PointerValue | NoValue | Lambda | Group | Text):
                v = self.temporary(v, "t", node)
            self.flush()
        return v

    def _beside(self, chosen: Any, other: Node, node: Node) -> Any:
        """The arm that is known to be taken, in the type that both have together: -1 beside 1u is 4294967295."""
        own = getattr(chosen, "type", None)
        if not isinstance(own, ScalarType) or own == FLOAT64:
            return chosen
        after, self.after = self.after, []
        try:
            wanted = self.type_of(other)
        except Refused:  # an arm for other types than those of this instance
            return chosen
        finally:
            self.after = after
        if not isinstance(wanted, ScalarType) or wanted == own:
            return chosen
        return self.convert(chosen, numbers.common(own, wanted), node)

    def _conditional(self, node: Tree) -> Any:
        test, first, second = node.children
        c = self.truth(test)
        known = c if isinstance(c, Const) else None
        if known is not None:
            chosen, other = (first, second) if known.value else (second, first)
            return self._beside(self.value(chosen), other, node)
        with self.captured() as before:
            self.flush()
        if before:
            c = self.temporary(c, "t", test)
            self.out.extend(before)
        with self.captured() as one:
            a = self.settled(self.value(first), first)
        with self.captured() as two:
            b = self.settled(self.value(second), second)
        span = self.span(node)
        if not one and not two:
            return self.select(c, a, b, span, node)
        if isinstance(a, NoValue) or isinstance(b, NoValue) or self.discard:
            self.emit(If(c, tuple(one), tuple(two), span=span))
            return NoValue()
        probe = self.select(Var("", BOOL), a, b, span, node)
        if isinstance(probe, StructValue | PointerValue):
            raise self.refuse("KR299", "a conditional of structs with side effects is not raised", node)
        name = self.fresh("t")
        t = probe.type
        one.append(Assign(name, self.convert(a, t, node), t, span=span))
        two.append(Assign(name, self.convert(b, t, node), t, span=span))
        self.emit(If(c, tuple(one), tuple(two), span=span))
        return Var(name, t, span=span)

    def _unary(self, node: Tree) -> Any:
        symbol, operand = node.children
        symbol = str(symbol)
        if symbol in ("++", "--"):
            return self._step(node, operand, symbol, postfix=False)
        if symbol == "*":
            return self.read(self.place(node), node)
        if symbol == "&":
            return self.address(self.place(operand), node)
        v = self.value(operand)
        if isinstance(v, StructValue):
            found = self.overloaded(f"operator{symbol}", (v,), node)
            if found is not None:
                return found
        return self.unary(symbol, v, self.span(node), node)

    def _postfix(self, node: Tree) -> Any:
        operand, symbol = node.children
        return self._step(node, operand, str(symbol), postfix=True)

    def _step(self, node: Tree, operand: Node, symbol: str, postfix: bool) -> Any:
        """``x++``: the new value is written at the end of the full expression, ``++x`` at once."""
        discard, self.discard = self.discard, False
        place = self.place(operand)
        old = self.read(place, operand)
        new = self.binary(symbol[0], old, Const(1, INT32), self.span(node), node)
        if not postfix or discard:
            self.write(place, new, node)
            return self.read(place, node) if not discard else NoValue()
        with self.captured() as later:
            self.write(place, new, node)
        self.after.extend(later)
        return old

    def _assignment(self, node: Tree) -> Any:
        target, operator, source = node.children
        discard, self.discard = self.discard, False
        symbol = "".join(str(t) for t in tokens(operator))
        source_node = strip(source)
        if isinstance(source_node, Tree) and source_node.data == "braced_init_list":
            place = self.place(target)
            value = self.braced(source_node, self._place_type(place, target))
        else:
            value = self.value(source_node)
            with self.captured() as moved:
                place = self.place(target)
            if moved:
                if not is_simple(value) and not isinstance(value, StructValue | PointerValue | NoValue):
                    value = self.temporary(value, "t", source)
                self.out.extend(moved)
        if symbol != "=":
            old = self.read(place, target)
            value = self._compound(symbol[:-1], old, value, node, place)
            if value is None:
                return NoValue()
        self.write(place, value, node)
        if discard:
            return NoValue()
        if isinstance(place, Cell) and isinstance(place.type, ScalarType):
            written = self.convert(value, place.type, node)
            return written if is_simple(written) else self.read(place, node)
        return self.read(place, node)

    def _compound(self, symbol: str, old: Any, value: Any, node: Tree, place: Any) -> Any:
        """The new value of ``a op= b``; None where an operator of the file has done it."""
        if isinstance(old, StructValue):
            found = self.overloaded_assignment(f"operator{symbol}=", place, value, node)
            if found:
                return None
            combined = self.overloaded(f"operator{symbol}", (old, value), node)
            if combined is not None:
                return combined
        return self.binary(symbol, old, value, self.span(node), node)

    def overloaded_assignment(self, name: str, place: Any, value: Any, node: Tree) -> bool:
        """Run a user-defined ``operator+=`` if there is one."""
        raise NotImplementedError

    def _place_type(self, place: Any, node: Node) -> CType:
        t = getattr(place, "type", None)
        if t is None:
            raise self.refuse("KR104", "the type of what is assigned is not known", node)
        return t

    def _comma(self, node: Tree) -> Any:
        first, second = node.children
        discard = self.discard
        self.discard = True
        self.value(first)
        self.flush()
        self.discard = discard
        return self.value(second)

    # --- names, members, elements

    def _subscript(self, node: Tree) -> Any:
        return self.read(self._subscript_place(node), node)

    def _subscript_place(self, node: Tree) -> Any:
        base, index = node.children
        if kind(index) == "braced_init_list":
            raise self.refuse("KR101", "this subscript is not raised", node)
        pointer = self.value(base)
        if isinstance(pointer, StructValue):
            place = self.subscripted(strip(base), pointer, index, node)
            if place is None:
                raise self.refuse("KR299", "the struct has no operator[]", node)
            return place
        i = self.value(index)
        if isinstance(i, PointerValue) and not isinstance(pointer, PointerValue):
            pointer, i = i, pointer  # 2[a]
        if not isinstance(pointer, PointerValue):
            raise self.refuse("KR104", f"`{self.text(base)}` is subscripted but is no array", node)
        return self.element(self.retyped(pointer, node), self.rvalue(i, index), node)

    def subscripted(self, base: Node, value: StructValue, index: Node, node: Tree) -> Any:
        """The place or value that an ``operator[]`` of the file gives; None if there is none."""
        raise NotImplementedError

    def retyped(self, pointer: PointerValue, node: Node) -> PointerValue:
        return pointer

    def _deref_place(self, node: Tree) -> Any:
        symbol, operand = node.children
        if str(symbol) == "*":
            pointer = self.value(operand)
            if isinstance(pointer, PointerValue):
                return self.element(pointer, None, node)
            raise self.refuse("KR104", "`*` needs a pointer", node)
        if str(symbol) in ("++", "--"):
            self._step(node, operand, str(symbol), postfix=False)
            return self.place(operand)
        raise self.refuse("KR101", f"`{self.text(node)}` cannot be assigned", node)

    def _assigned_place(self, node: Tree) -> Any:
        self._assignment(node)
        return self.place(node.children[0])

    # --- literals

    # --- types in expressions

    def _call(self, node: Tree) -> Any:
        return self.call(node)

    def _call_place(self, node: Tree) -> Any:
        self.last_reference = None
        self.call(node)
        if self.last_reference is None:
            raise self.refuse("KR299", "assigning through a call is not raised", node)
        return self.last_reference

    def subscript_sum(self, pointer: PointerValue) -> Expr | None:
        """The offset of a pointer, signed."""
        return signed(pointer.offset) if pointer.offset is not None else None


_VALUES: dict[str, Callable[[Expressions, Tree], Any]] = {
    "logical_or_expression": Expressions._logical,
    "logical_and_expression": Expressions._logical,
    "conditional_expression": Expressions._conditional,
    "unary_expression": Expressions._unary,
    "postfix_expression": Expressions._postfix,
    "assignment_expression": Expressions._assignment,
    "comma_expression": Expressions._comma,
    "expression": Expressions._comma,
    "id_expression": Expressions._name,
    "member_expression": Expressions._member,
    "subscript_expression": Expressions._subscript,
    "number": Expressions._number,
    "character": Expressions._character,
    "boolean": Expressions._boolean,
    "string": Expressions._string,
    "null_pointer": Expressions._null,
    "cast_expression": Expressions._cast,
    "cxx_cast_expression": Expressions._cxx_cast,
    "functional_cast": Expressions._functional_cast,
    "braced_cast": Expressions._braced_cast,
    "compound_literal": Expressions._braced_cast,
    "sizeof_expression": Expressions._sizeof,
    "this": Expressions._this,
    "statement_expression": Expressions._statement_expression,
    "lambda_expression": Expressions._lambda,
    "call_expression": Expressions._call,
}

_PLACES: dict[str, Callable[[Expressions, Tree], Any]] = {
    "id_expression": Expressions._name_place,
    "member_expression": Expressions._member_place,
    "subscript_expression": Expressions._subscript_place,
    "unary_expression": Expressions._deref_place,
    "assignment_expression": Expressions._assigned_place,
    "call_expression": Expressions._call_place,
}
