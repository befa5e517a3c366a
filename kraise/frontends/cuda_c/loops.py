"""Loops: a ``for`` in canonical form is a For, all else a While with its step at the end and before each continue."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.arithmetic import cast
from kraise.frontends.cuda_c.c_types import AUTO, Array, CType, Reference
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.effects import changed, continues, jumps, same_order
from kraise.frontends.cuda_c.places import reads
from kraise.frontends.cuda_c.tests_in_turns import in_turns, leaving
from kraise.frontends.cuda_c.trees import Node, child, end, last_name, position, strip, tokens, trees
from kraise.frontends.cuda_c.unsigned_rows import signed_rows
from kraise.frontends.cuda_c.usage import names_in
from kraise.frontends.cuda_c.values import Alias, Cell, VarPlace
from kraise.frontends.cuda_c.variables import Variables
from kraise.ir.kernel import (
    Assign,
    Break,
    Const,
    Expr,
    For,
    If,
    Op,
    Stmt,
    Var,
    While,
)
from kraise.ir.types import BOOL, INT32, ScalarType

_FLIP = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}


@dataclass
class LoopContext:
    """What break and continue mean: ``step`` runs before a continue; a switch has a ``label`` to exit from."""

    step: list[Stmt] = field(default_factory=list)
    label: str = ""


@dataclass
class Header:
    """``for (var = start; var < stop; var += step)`` as written."""

    name: str
    start: Node
    declared: Tree | None
    symbol: str
    bound: Node
    step: Node | None  # None is 1
    down: bool


class Loops(Variables):
    """Loop statements."""

    loops: list[LoopContext]

    def for_statement(self, node: Tree, parallel: bool = False) -> None:
        """``for (init; test; step) body``."""
        with self.scope():
            before, self.block_end = self.block_end, end(node)
            try:
                header = self._header(node)
                if header is None or not self._counted(node, header, parallel):
                    self._general(node)
            finally:
                self.block_end = before

    def _header(self, node: Tree) -> Header | None:
        """The canonical parts, or None."""
        init, test, step = child(node, "for_init"), child(node, "for_condition"), child(node, "for_step")
        if init is None or test is None or step is None or not (init.children and test.children and step.children):
            return None
        found = self._initial(init)
        moved = self._step_of(strip(step.children[0]))
        if found is None or moved is None:
            return None
        name, start, declared = found
        condition = strip(test.children[0])
        if not isinstance(condition, Tree) or condition.data not in ("relational_expression", "equality_expression"):
            return None
        left, symbol_token, right = condition.children
        symbol = str(symbol_token)
        if symbol not in _FLIP or moved[0] != name:
            return None
        if _is_name(right, name) and not _is_name(left, name):
            left, right, symbol = right, left, _FLIP[symbol]
        if not _is_name(left, name):
            return None
        _, amount, down = moved
        if symbol == "!=" and amount is not None:
            return None
        if symbol != "!=" and (symbol in (">", ">=")) != down:
            return None
        body = node.children[-1]
        if self.usage.modified_in(name, position(body), end(body)):
            return None
        if name in names_in(right) or (amount is not None and name in names_in(amount)):
            return None  # the end moves with the counter, whatever outer variable has its name, too
        return Header(name, start, declared, symbol, right, amount, down)

    def _initial(self, init: Tree) -> tuple[str, Node, Tree | None] | None:
        inner = init.children[0]
        if isinstance(inner, Tree) and inner.data == "declaration":
            items = trees(inner, "init_declarator")
            specifiers = child(inner, "decl_specifiers")
            if len(items) != 1 or len(items[0].children) != 2 or specifiers is None:
                return None
            declarator = items[0].children[0]
            token = (
                last_name(declarator.children[-1])
                if isinstance(declarator, Tree) and len(declarator.children) == 1
                else None
            )
            return (str(token), items[0].children[1], inner) if token is not None else None
        plain = strip(inner)
        if isinstance(plain, Tree) and plain.data == "assignment_expression" and str(_symbol(plain)) == "=":
            target = strip(plain.children[0])
            if isinstance(target, Tree) and target.data == "id_expression":
                return str(last_name(target)), plain.children[2], None
        return None

    def _step_of(self, step: Node) -> tuple[str, Node | None, bool] | None:
        """(name, amount, downwards) of ``i++``, ``--i``, ``i += s``, ``i = i + s``."""
        if not isinstance(step, Tree):
            return None
        if step.data in ("postfix_expression", "unary_expression") and len(step.children) == 2:
            parts = [c for c in step.children if isinstance(c, Tree)]
            symbol = next((str(c) for c in step.children if not isinstance(c, Tree)), "")
            target = strip(parts[0]) if parts else None
            if symbol in ("++", "--") and isinstance(target, Tree) and target.data == "id_expression":
                return str(last_name(target)), None, symbol == "--"
        if step.data == "assignment_expression":
            target, symbol = strip(step.children[0]), _symbol(step)
            if not isinstance(target, Tree) or target.data != "id_expression":
                return None
            name = str(last_name(target))
            if symbol in ("+=", "-="):
                return name, step.children[2], symbol == "-="
            right = strip(step.children[2])
            if symbol == "=" and isinstance(right, Tree) and right.data == "additive_expression":
                a, sign, b = right.children
                if _is_name(a, name):
                    return name, b, str(sign) == "-"
                if _is_name(b, name) and str(sign) == "+":
                    return name, a, False
        return None

    def _counted(self, node: Tree, h: Header, parallel: bool) -> bool:
        """Emit a For; False (and nothing emitted) where the form does not hold after all."""
        if h.declared is not None:
            specifiers = self.specifiers(child(h.declared, "decl_specifiers"))  # type: ignore[arg-type]
            t: CType = specifiers.type if specifiers.type != AUTO else self.type_of(h.start)
            if t not in _COUNTERS:
                return False
            place: Any = None
        else:
            place = self.lookup(h.name)
            t = getattr(place, "type", None)  # type: ignore[assignment]
            if not isinstance(place, VarPlace) or t not in _COUNTERS:
                return False
            if self.usage.read_outside(h.name, position(node), end(node)) and _leaves_early(node):
                return False
        assert isinstance(t, ScalarType)
        mark = len(self.out)
        after = list(self.after)
        start = self.convert(self.value(h.start), t)
        bound = self.scalar(h.bound)
        amount: Expr = Const(1, t) if h.step is None else self.scalar(h.step)
        if len(self.out) != mark or self.after != after:  # the header has side effects
            del self.out[mark:]
            self.after = after
            return False
        if not same_order(bound, t, start, self.natural):
            return False
        stop = cast(bound, t)
        if h.symbol == "<=":
            stop = self.binary("+", stop, Const(1, t), bound.span)
        elif h.symbol == ">=":
            if t.kind == "uint":
                return False  # i >= b of an unsigned i that counts down may never end
            stop = self.binary("-", stop, Const(1, t), bound.span)
        stop = cast(stop, t)
        step = cast(amount, t)
        if h.down:
            if t.kind == "uint" and not (isinstance(amount, Const) and amount.value == 1):
                return False
            step = self.unary("-", cast(amount, INT32 if t.kind == "uint" else t), amount.span)
        elif isinstance(step, Const) and step.value <= 0:  # type: ignore[operator]
            return False
        if h.symbol == "!=" and not _ahead(start, stop, h.down):
            return False
        saved_names, saved_notes = dict(self.names), list(self.notes)
        with self.scope():
            name = place.name if place is not None else self.variable_name(h.name, t)
            self.declare(h.name, VarPlace(name, t))
            body = self._body(node.children[-1], LoopContext())
        written, stored = changed(body)
        if name in written or reads(stop, written, stored) or reads(step, written, stored):
            self.names, self.notes = saved_names, saved_notes
            return False
        span = self.span(node)
        loop = For(name, start, stop, step, tuple(body), parallel=parallel, type=t, span=span)
        self.emit(loop if h.declared is None else signed_rows(loop))
        if place is not None and self.usage.read_outside(h.name, position(node), end(node)):
            self._final(name, start, stop, step, t, span)
        return True

    def _final(self, name: str, start: Expr, stop: Expr, step: Expr, t: ScalarType, span: Any) -> None:
        """The value that C leaves in a counter that lives on after its loop."""
        known = fold(step)
        if known is not None and abs(known.value) == 1:  # type: ignore[arg-type]
            which = "max" if known.value > 0 else "min"  # type: ignore[operator]
            a, b = fold(start), fold(stop)
            final: Expr = Op(which, (start, stop), t, span=span)
            if a is not None and b is not None:
                final = Const((max if which == "max" else min)(a.value, b.value), t)  # type: ignore[type-var]
        else:
            distance = self.binary("-", stop, start)
            one = Const(1 if known is None or known.value > 0 else -1, t)  # type: ignore[operator]
            count = self.binary("/", self.binary("-", self.binary("+", distance, step), one), step)
            trips = Op("max", (cast(count, t), Const(0, t)), t, span=span)
            final = self.binary("+", start, self.binary("*", trips, step))
        self.emit(Assign(name, final, t, span=span))

    def _general(self, node: Tree) -> None:
        """Any other for: the initializer, then a While."""
        init, test, step = child(node, "for_init"), child(node, "for_condition"), child(node, "for_step")
        if init is not None:
            for c in init.children:
                self.statement(c)
        with self.captured() as steps:
            if step is not None and step.children:
                self.discard = True
                self.value(step.children[0])
                self.discard = False
                self.flush()
        condition = test.children[0] if test is not None and test.children else None
        self._while(node, condition, node.children[-1], LoopContext(steps))

    def range_for_statement(self, node: Tree) -> None:
        """``for (float &x : array)``: a loop over the elements of an array of this function."""
        specifier_node, declarator, source, body_node = [c for c in node.children if isinstance(c, Tree)]
        plain = strip(source)
        entity = self.lookup(str(last_name(plain) or "")) if isinstance(plain, Tree) else None
        if not isinstance(entity, Cell) or not isinstance(entity.type, Array) or entity.type.extent is None:
            raise self.refuse("KR101", "a range-for over this is not raised", node, "write the loop over the index")
        specifiers = self.specifiers(specifier_node)
        token, t = self.declarator(declarator, specifiers.type)
        span = self.span(node)
        index = self.fresh("k")
        self.names[index] = INT32
        self.loops.append(LoopContext())
        before, self.block_end = self.block_end, end(node)
        with self.scope(), self.captured() as body:
            place = Cell(entity.array, (*entity.subscripts, Var(index, INT32, span=span)), entity.type.of)
            if isinstance(t, Reference):
                self.declare(str(token), Alias(place))
            else:
                value = self.read(place, node)
                value = value if t == AUTO else self.convert(value, t, node)
                if not isinstance(value.type, ScalarType):
                    raise self.refuse("KR299", "a range-for over structs is not raised", node)
                variable = VarPlace(self.variable_name(str(token), value.type), value.type)
                self.write(variable, value, node)
                self.declare(str(token), variable)
            self.statement(body_node)
        self.loops.pop()
        self.block_end = before
        self.emit(For(index, Const(0, INT32), cast(entity.type.extent, INT32), Const(1, INT32), tuple(body), span=span))

    def while_statement(self, node: Tree) -> None:
        """``while (test) body``."""
        before, self.block_end = self.block_end, end(node)
        test = next(c for c in node.children if isinstance(c, Tree))
        if test.data in ("condition_declaration", "declaration"):
            raise self.refuse("KR101", "a declaration as the condition is not raised", node)
        self._while(node, test, node.children[-1], LoopContext())
        self.block_end = before

    def _while(self, node: Tree, test: Node | None, body_node: Node, context: LoopContext) -> None:
        span = self.span(node)
        with self.captured() as before:
            c: Expr = self.condition(self.value(test), test) if test is not None else Const(True, BOOL)
            if self.after:
                c = self.temporary(c, "t", test)
                self.flush()
        body = self._body(body_node, context)
        body += context.step
        if before:
            first, before, c = in_turns(before, c, span)
            stop = If(self.unary("!", c), (Break(span=span),), span=span)
            body = [*before, stop, *body]
            c = first
        self.emit(While(c, tuple(body), span=span))

    def do_statement(self, node: Tree) -> None:
        """``do body while (test);``."""
        before, self.block_end = self.block_end, end(node)
        body_node, test = [c for c in node.children if isinstance(c, Tree)][:2]
        span = self.span(node)
        known = fold(self._quiet(test))
        context = LoopContext()
        body = self._body(body_node, context)
        with self.captured() as tested:
            c = self.condition(self.value(test), test)
            if self.after:
                c = self.temporary(c, "t", test)
                self.flush()
        self.block_end = before
        if known is not None and not known.value and not jumps(body):  # do { … } while (0)
            self.out.extend(body)
            return
        if tested:
            if continues(body):
                raise self.refuse("KR299", "`continue` in a do loop whose test has side effects is not raised", node)
            first, tested, c = in_turns(tested, c, span)
            body = [*body, *leaving(first, span), *tested]
        self.emit(While(c, tuple(body), test_last=True, span=span))

    def _quiet(self, node: Node) -> Any:
        literal = strip(node)
        if isinstance(literal, Tree) and literal.data in ("number", "boolean"):
            return self.value(literal)
        return None

    def _body(self, node: Node, context: LoopContext) -> list[Stmt]:
        self.loops.append(context)
        before, self.block_end = self.block_end, end(node)
        try:
            with self.scope(), self.captured() as body:
                self.statement(node)
            return body
        finally:
            self.loops.pop()
            self.block_end = before


_COUNTERS = tuple(ScalarType(k, b) for k in ("int", "uint") for b in (32, 64))


def _symbol(node: Tree) -> str:
    return "".join(str(t) for t in tokens(node.children[1]))


def _is_name(node: Node, name: str) -> bool:
    node = strip(node)
    return isinstance(node, Tree) and node.data == "id_expression" and str(last_name(node)) == name


def _leaves_early(node: Tree) -> bool:
    return any(t.data == "break_statement" for t in node.iter_subtrees())


def _ahead(start: Expr, stop: Expr, down: bool) -> bool:
    """Whether ``!=`` ends a loop as ``<`` or ``>`` does: from a number on that the end is not known to lie behind."""
    if not isinstance(start, Const):
        return False
    first, last = int(start.value.real), fold(stop)
    if last is None:
        return first < 1 << 31
    return first >= last.value.real if down else first <= last.value.real
