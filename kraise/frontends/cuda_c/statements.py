"""Statements: one method a rule of the grammar."""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from kraise.frontends.cuda_c.branched import Branched
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.exits import Exit, has_exit, remove_exits
from kraise.frontends.cuda_c.loops import LoopContext, Loops
from kraise.frontends.cuda_c.trees import Node, end, strip, trees
from kraise.frontends.cuda_c.values import StructValue
from kraise.ir.kernel import Break, Const, Continue, Expr, If, Op, Return, Stmt
from kraise.ir.types import BOOL, ScalarType


class Statements(Loops):
    """Statements to Kernel IR."""

    returns: Any = None  # the function's return type
    inline_label: str = ""
    inline_result: Any = None

    def statement(self, node: Node) -> None:
        """Lower one statement into ``self.out``. Raises Refused."""
        if isinstance(node, Token):
            return
        match node.data:
            case "compound_statement":
                before, self.block_end = self.block_end, end(node)
                with self.scope():
                    for c in node.children:
                        self.statement(c)
                self.block_end = before
            case "declaration_statement":
                self.declaration(node.children[0])  # type: ignore[arg-type]
            case "declaration":
                self.declaration(node)
            case "expression_statement":
                self.full_expression(node)
            case "if_statement" | "if_else_statement":
                self.if_statement(node)
            case "for_statement":
                self.for_statement(node)
            case "while_statement":
                self.while_statement(node)
            case "do_statement":
                self.do_statement(node)
            case "range_for_statement":
                self.range_for_statement(node)
            case "switch_statement":
                self.switch_statement(node)
            case "pragma_statement":
                inner = node.children[-1]
                if isinstance(inner, Tree) and inner.data == "for_statement":
                    self.for_statement(inner, parallel=True)
                else:
                    self.statement(inner)
            case "return_statement":
                self.return_statement(node)
            case "break_statement":
                self.break_statement(node)
            case "continue_statement":
                self.continue_statement(node)
            case "labeled_statement":
                self.statement(node.children[-1])
            case "structured_binding" | "asm_statement" | "goto_statement":
                words = {"asm_statement": "inline assembly", "goto_statement": "goto"}
                name = words.get(node.data, node.data.replace("_", " "))
                raise self.refuse("KR101", f"{name} is not raised", node)
            case _:
                raise self.refuse("KR101", f"{node.data.replace('_', ' ')} is not raised", node)

    def full_expression(self, node: Tree) -> None:
        """``expression;``: its side effects in order."""
        if not node.children:
            return
        self.discard = True
        try:
            self.value(node.children[0])
        finally:
            self.discard = False
        self.flush()

    def if_statement(self, node: Tree) -> None:
        """``if (test) a else b``; a constant test chooses at once (``if constexpr``, template integers)."""
        parts = [c for c in node.children if isinstance(c, Tree)]
        test, first = parts[0], parts[1]
        second = parts[2] if len(parts) > 2 else None
        if test.data == "declaration":
            raise self.refuse("KR101", "a declaration before the condition is not raised", node)
        if test.data == "condition_declaration":
            with self.scope():
                self._if(node, self._declared_condition(test), test, first, second)
            return
        self._if(node, self.truth(test), test, first, second)

    def _declared_condition(self, test: Tree) -> Expr:
        """``if (int t = f())``: the variable is the condition."""
        specifiers = self.specifiers(trees(test, "decl_specifiers")[0])
        token, t = self.declarator(trees(test, "declarator")[0], specifiers.type)
        self.define(str(token), t, specifiers, trees(test)[-1], None, test)
        return self.condition(self.read(self.lookup(str(token)), test), test)

    def _if(self, node: Tree, c: Expr, test: Tree, first: Tree, second: Tree | None) -> None:
        if self.after:
            c = self.temporary(c, "t", test)
            self.flush()
        known = fold(c)
        if known is not None:
            chosen = first if known.value else second
            if chosen is not None:
                with self.scope():
                    self.statement(chosen)
            return
        pointers = Branched(self, node)
        body = self._block(first, pointers)
        orelse = self._block(second, pointers) if second is not None else []
        if pointers.differ():
            c = self.temporary(c, "t", test)
        pointers.merge(c)
        self.emit(If(c, tuple(body), tuple(orelse), span=self.span(node)))

    def _block(self, node: Node, pointers: Branched | None = None) -> list[Stmt]:
        before, self.block_end = self.block_end, end(node)
        self.depth += 1
        with self.scope(), self.captured() as body:
            if pointers is not None:
                pointers.enter(body)
            self.statement(node)
        self.depth -= 1
        self.block_end = before
        if pointers is not None:
            pointers.leave()
        return body

    def return_statement(self, node: Tree) -> None:
        """``return e;``."""
        span = self.span(node)
        values: tuple[Expr, ...] = ()
        if node.children and isinstance(node.children[0], Tree):
            source = strip(node.children[0])
            if self.returns_reference(source, node):
                self.emit(Exit(self.inline_label))  # type: ignore[arg-type]
                return
            if isinstance(source, Tree) and source.data == "braced_init_list":
                value = self.braced(source, self.returns)
            else:
                value = self.value(source)
            self.check_return(value, node)
            if self.inline_label and self.inline_result is not None:
                self.write(self.inline_result, value, node)
            elif not self.inline_label:
                values = tuple(self.flatten(self.convert(value, self.returns, node)))
                if self.after and values:
                    values = tuple(self.temporary(v, "t", node) for v in values)
        self.flush()
        if self.inline_label:
            self.emit(Exit(self.inline_label))  # type: ignore[arg-type]
        else:
            self.emit(Return(values, span=span))

    def returns_reference(self, source: Node, node: Tree) -> bool:
        """Hook: a body that returns a reference notes the place."""
        return False

    def check_return(self, value: Any, node: Tree) -> None:
        """Hook: a function whose return type is auto learns it here."""

    def flatten(self, value: Any) -> list[Expr]:
        """The scalars of a value, in the order of the members."""
        if isinstance(value, StructValue):
            return [x for _, v in value.fields for x in self.flatten(v)]
        if isinstance(getattr(value, "type", None), ScalarType):
            return [value]
        return []

    def break_statement(self, node: Tree) -> None:
        if not self.loops:
            raise self.refuse("KR100", "break outside of a loop", node)
        label = self.loops[-1].label
        self.emit(Exit(label) if label else Break(span=self.span(node)))  # type: ignore[arg-type]

    def continue_statement(self, node: Tree) -> None:
        inner = next((c for c in reversed(self.loops) if not c.label), None)
        if inner is None:
            raise self.refuse("KR100", "continue outside of a loop", node)
        self.out.extend(inner.step)
        self.emit(Continue(span=self.span(node)))

    # --- switch

    def switch_statement(self, node: Tree) -> None:
        """A switch is a chain of tests; a case that falls through runs the next one's statements too."""
        test, body = [c for c in node.children if isinstance(c, Tree)][:2]
        value = self.scalar(test)
        if self.after or not _plain(value):
            value = self.temporary(value, "t", test)
            self.flush()
        if body.data != "compound_statement":
            raise self.refuse("KR101", "a switch without braces is not raised", node)
        groups = self._cases(body)
        label = self.fresh("switch")
        span = self.span(node)
        lowered: list[list[Stmt]] = []
        for _, statements in groups:
            self.loops.append(LoopContext(label=label))
            self.depth += 1
            try:
                with self.scope(), self.captured() as out:
                    for s in statements:
                        self.statement(s)
            finally:
                self.loops.pop()
                self.depth -= 1
            lowered.append(out)
        known = fold(value)
        chain: list[Stmt] = []
        default = next((k for k, (labels, _) in enumerate(groups) if None in labels), None)
        tests: list[tuple[Expr | None, int]] = []
        for k, (labels, _) in enumerate(groups):
            if k == default:
                continue
            tests.append((self._any_of(value, [x for x in labels if x is not None], span), k))
        if default is not None:
            chain = self._fall(lowered, default, label)
        for c, k in reversed(tests):
            here = self._fall(lowered, k, label)
            if known is not None and c is not None:
                if fold(c).value:  # type: ignore[union-attr]
                    chain = here
                continue
            chain = [If(c, tuple(here), tuple(chain), span=span)]  # type: ignore[arg-type]
        self.out.extend(chain)

    def _fall(self, lowered: list[list[Stmt]], k: int, label: str) -> list[Stmt]:
        run: list[Any] = []
        for part in lowered[k:]:
            run += part
            if part and isinstance(part[-1], Exit | Return | Break | Continue):
                break
        return remove_exits(run, label, self.fresh) if has_exit(run, label) else run

    def _any_of(self, value: Expr, labels: list[Const], span: Any) -> Expr:
        tests = [self.binary("==", value, c, span) for c in labels]
        result = tests[0]
        for t in tests[1:]:
            result = Op("or", (result, t), BOOL, span=span)
        return result

    def _cases(self, body: Tree) -> list[tuple[list[Const | None], list[Tree]]]:
        groups: list[tuple[list[Const | None], list[Tree]]] = []
        fresh_labels = True
        for c in trees(body):
            statement: Tree = c
            while statement.data == "labeled_statement":
                label, inner = statement.children
                assert isinstance(label, Tree) and isinstance(inner, Tree)
                if label.data == "named_label":
                    raise self.refuse("KR101", "a label is not raised", c)
                if fresh_labels is False or not groups:
                    groups.append(([], []))
                    fresh_labels = True
                groups[-1][0].append(self.constant(label.children[0]) if label.data == "case_label" else None)
                statement = inner
            if statement.data in ("case_label", "default_label"):  # before the closing brace
                continue
            if not groups:
                continue  # unreachable
            groups[-1][1].append(statement)
            fresh_labels = False
        return groups


def _plain(e: Expr) -> bool:
    return type(e).__name__ in ("Const", "Var", "Hw")
