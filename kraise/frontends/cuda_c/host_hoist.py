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
from kraise.frontends.cuda_c.host_names import callee
from kraise.frontends.cuda_c.trees import child, kind, strip, trees
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
    plain_call: Any
    arguments: Any
    own_name: Any
    scalar: Any
    placed: Any
    flushed: Any
    result_type: Any
    method_of: Any
    _helper: Any
    _scope: Any

    def hoisted(self, node: Any, top: bool = True) -> Any:
        """An expression without the calls with effects inside it, which go to ``pending``; a call that is all of it
        (``top``) stays."""
        if not isinstance(node, Tree) or not any(self._works_here(c) for c in node.find_data("call_expression")):
            return node
        inner = strip(node)
        if top and kind(inner) == "call_expression" and self._works_here(inner):
            args = [self.hoisted(c, top=False) for c in inner.children]  # type: ignore[union-attr]
            return Tree("call_expression", args, inner.meta)  # type: ignore[union-attr]
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

    def head_tested(self, test: Tree, body: Tree) -> Tree | None:
        """The body of ``while (f(x) > tol) …`` with the test at its head; None where the test calls nothing."""
        if not any(self._works_here(c) for c in test.find_data("call_expression")):
            return None
        fails = Tree("unary_expression", [Token("NOT", "!"), test], test.meta)
        leave = Tree("if_statement", [fails, Tree("break_statement", [], test.meta)], test.meta)
        rest = trees(body) if body.data == "compound_statement" else [body]
        return Tree("compound_statement", [leave, *rest], body.meta)

    def _works_here(self, call: Tree) -> bool:
        """Is it a call that gives a number and needs statements: of a host function, a helper, a function on arrays?"""
        if callee(call.children[0]) in self.hosts or self.is_plain(call):
            return self._gives(call) is not None
        try:
            return bool(self.inlines(call)) and self._gives(call) is not None
        except Refused:
            return False

    def _gives(self, call: Tree) -> ScalarType | None:
        """The type of the number that a call gives, None where it gives none."""
        method = self.method_of(call)
        d = method[1] if method is not None else self._helper(call)
        if d is None:
            return None
        try:
            tree = self.program.load(d)
            declarator = child(tree, "function_declarator")
            self.low.scopes.append(self._scope(d, call))
            try:
                return self.result_type(tree, declarator)  # type: ignore[no-any-return]
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

