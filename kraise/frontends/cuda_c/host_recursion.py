"""Helpers of CUDA C host functions that call themselves with numbers that are known: V-cycles over a few levels.

Each call is written out as any helper is, and a branch that known numbers decide is one of its sides, so that the calls
end where the program's do. Side conditions, checked: a number among the arguments of each call is known, no call stands
within one that has the same numbers, and there are at most ``MOST`` calls.
"""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.structs import Definition
from kraise.frontends.cuda_c.trees import tokens
from kraise.ir import kernel as k
from kraise.ir.types import INT32, ScalarType

MOST = 64


class Recursion:
    """The part of the reader that knows them; ``written_numbers``: of the calls that are written out."""

    low: Any
    number: Any
    defined: Any
    pending: list[Any]
    inlining: list[str]
    written_numbers: list[tuple[Any, ...]]
    repeated_calls: int
    repeating: set[str]  # helpers that call themselves

    def call_numbers(
        self, label: str, d: Definition, declarator: Tree, args: list[Tree], node: Tree, scope: dict[str, Any]
    ) -> tuple[Any, ...]:
        """The numbers of a call that are known; refused where it may not end."""
        if label not in self.repeating:
            return ()
        given = self.known_of(declarator, args, scope)
        if label in self.inlining:
            self.repeated_calls += 1
            same = any(n == label and c == given for n, c in zip(self.inlining, self.written_numbers, strict=True))
            if same or self.repeated_calls > MOST or all(v is None for v in given):
                hint = "write it as a loop, or call it with a depth that is known"
                raise self.low.refuse("KR211", f"{d.name} calls itself", node, hint)
        return given

    def known_of(self, declarator: Tree, args: list[Tree], scope: dict[str, Any]) -> tuple[Any, ...]:
        found: list[Any] = []
        self.low.scopes.append(scope)
        try:
            params = self.low.parameters(declarator)
        finally:
            self.low.scopes.pop()
        for p, arg in zip(params, args, strict=False):
            value = None
            if isinstance(p.type, ScalarType):
                value = self.folded(arg)
            found.append(value.value if isinstance(value, k.Const) else None)
        return tuple(found)

    def folded(self, node: Tree) -> Any:
        before = list(self.pending)
        try:
            return fold(self.defined(self.number(node)))
        except Refused:
            return None
        finally:
            self.pending = before
            self.low.out.clear()
            self.low.after.clear()

    def known_number(self, p: Any, given: Tree, changed: set[str], d: Definition) -> Tree | None:
        """What stands for a parameter of a helper that calls itself, where that is an integer which is known."""
        if not self.repeating & {d.name} or p.name in changed or p.type != INT32:
            return None
        value = self.folded(given)
        if not isinstance(value, k.Const) or value.value.real < 0:
            return None
        return Tree("number", [Token("NUMBER", str(int(value.value.real)))], given.meta)

    def decided(self, condition: k.Expr) -> bool | None:
        """Which side of a branch runs, in a helper that calls itself; None where that is not known."""
        if not self.repeating & set(self.inlining):
            return None
        known = fold(self.defined(condition))
        return bool(known.value) if isinstance(known, k.Const) else None


def repeats(d: Definition, body: Tree) -> bool:
    """Does a function mention itself?"""
    return d.name in {str(t) for t in tokens(body)}
