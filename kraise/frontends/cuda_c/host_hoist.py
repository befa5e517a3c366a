"""Calls with effects inside expressions of CUDA C host functions: a statement of their own before it.

``return total(y, n) / n;`` and ``while (residual(a, b, n) > tol)`` call functions that launch. Each such call becomes a
number of its own; a ``while`` tests at the head of each round.

Side condition, checked: the call runs whenever the expression does (it stands in no arm of ``?:`` and in no right side
of ``&&`` and ``||``).
"""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c.c_types import CType
from kraise.frontends.cuda_c.host_main import PARSERS
from kraise.frontends.cuda_c.host_names import callee
from kraise.frontends.cuda_c.trees import child, strip, trees
from kraise.ir import host as h
from kraise.ir.types import ScalarType

_ARMS = ("conditional_expression", "logical_and_expression", "logical_or_expression")


class Hoisting:
    """The part of the reader that takes calls out of expressions."""

    low: Any
    program: Any
    hosts: dict[str, tuple[bool, ...]]
    pending: list[h.Stmt]
    inlines: Any
    inline: Any
    is_plain: Any
    is_dropped: Any
    plain_call: Any
    arguments: Any
    own_name: Any
    scalar: Any
    placed: Any
    flushed: Any
    method_of: Any
    _helper: Any
    _scope: Any

    def hoisted(self, node: Any, top: bool = True) -> Any:
        """An expression without the calls with effects inside it, which go to ``pending``; a call that is all of it
        (``top``) stays."""
        if not isinstance(node, Tree) or not any(self._works_here(c) for c in node.find_data("call_expression")):
            return node
        inner = strip(node)
        if top and isinstance(inner, Tree) and inner.data == "call_expression" and self._works_here(inner):
            return Tree("call_expression", [self.hoisted(c, top=False) for c in inner.children], inner.meta)
        if node.data in _ARMS:
            first, *rest = trees(node)
            for arm in rest:
                for call in arm.find_data("call_expression"):
                    if self._works_here(call):
                        reason = f"{callee(call.children[0])} is called in a part of an expression that may not run"
                        raise self.low.refuse("KR211", reason, call, "give it a line of its own")
            children: list[Any] = [self.hoisted(c, top=False) if c is first else c for c in node.children]
            return Tree(node.data, children, node.meta)
        children = [self.hoisted(c, top=False) for c in node.children]
        node = Tree(node.data, children, node.meta)
        return self._number_of(node) if node.data == "call_expression" and self._works_here(node) else node

    def calls(self, node: Tree | None) -> bool:
        """Is there a call with effects in an expression?"""
        return node is not None and any(self._works_here(c) for c in node.find_data("call_expression"))

    def head_tested(self, test: Tree, body: Tree) -> Tree | None:
        """The body of ``while (k < n && f(x) > tol) …`` with the tests at its head; None where they call nothing."""
        if not self.calls(test):
            return None
        rest = trees(body) if body.data == "compound_statement" else [body]
        return Tree("compound_statement", [*_leaves(test), *rest], body.meta)

    def end_tested(self, test: Tree, body: Tree) -> Tree | None:
        """The body of ``do … while (f(x) > tol)`` with the tests at its end; None where they call nothing."""
        if not self.calls(test):
            return None
        if any(body.find_data("continue_statement")):
            raise self.low.refuse("KR211", "a round that goes on at a test with calls", test, "test at the end of it")
        rest = trees(body) if body.data == "compound_statement" else [body]
        return Tree("compound_statement", [*rest, *_leaves(test)], body.meta)

    def as_while(self, test: Tree | None, step: Tree | None, body: Tree, node: Tree) -> Tree | None:
        """``for (…; f(x) > tol; step)`` as a ``while``; None where its test calls nothing."""
        if test is None or not self.calls(test):
            return None
        if any(body.find_data("continue_statement")):
            raise self.low.refuse("KR211", "a round that goes on at a test with calls", node, "write it as a while")
        after = [Tree("expression_statement", list(step.children), node.meta)] if step is not None else []
        rounds = Tree("compound_statement", [body, *after], node.meta)
        return Tree("while_statement", [test.children[0], rounds], node.meta)

    def _works_here(self, call: Tree) -> bool:
        """Is it a call that gives a number and needs statements: of a host function, a helper, a function on arrays?"""
        if self.is_dropped(callee(call.children[0])) or callee(call.children[0]) in PARSERS:
            return False
        if callee(call.children[0]) in self.hosts or self.is_plain(call):
            return self._gives(call) is not None
        try:
            return bool(self.inlines(call)) and self._gives(call) is not None
        except Refused:
            return False

    def _gives(self, call: Tree) -> ScalarType | None:
        """The type of the number that a call gives, None where it gives none."""
        found = self.given_by(call)
        return found if isinstance(found, ScalarType) else None

    def given_by(self, call: Tree) -> CType | None:
        """The type of what a function of the file gives; None where that is not known."""
        method = self.method_of(call)
        d = method[1] if method is not None else self._helper(call)
        if d is None:
            return None
        try:
            tree = self.program.load(d)
            declarator: Any = child(tree, "function_declarator")
            self.low.scopes.append(self._scope(d, call))
            try:
                specifiers, inner = child(tree, "decl_specifiers"), child(declarator, "declarator")
                if specifiers is None or inner is None:
                    return None
                return self.low.declarator(inner, self.low.specifiers(specifiers).type)[1]  # type: ignore[no-any-return]
            finally:
                self.low.scopes.pop()
        except Refused:
            return None

    def _number_of(self, call: Tree) -> Tree:
        """The name of the number that a call gives; its statements go to ``pending``."""
        t = self._gives(call)
        name = callee(call.children[0])
        own = self.own_name(f"{name}_value" if name else "value")
        self.scalar(own, t)
        target = Tree("id_expression", [Token("NAME", own)], call.meta)
        if self.inlines(call):
            found = self.inline(call, target)
        elif name in self.hosts:
            found = [h.CallHost(name, self.arguments(call), (own,), (False,), span=self.low.span(call))]
        else:
            found = self.plain_call(call, (own,), t)
        self.pending += [*self.flushed(), *found]
        return target


def _leaves(test: Tree) -> list[Tree]:
    """``if (!a) break; if (!b) break;`` of the test ``a && b``."""
    inner = strip(test)
    if isinstance(inner, Tree) and inner.data == "logical_and_expression":
        return [leave for c in trees(inner) for leave in _leaves(c)]
    fails = Tree("unary_expression", [Token("NOT", "!"), inner], test.meta)
    return [Tree("if_statement", [fails, Tree("break_statement", [], test.meta)], test.meta)]
