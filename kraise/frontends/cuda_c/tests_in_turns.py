"""Tests of loops whose sides are asked one after the other: ``while (fabsf(d) > eps && it++ < 30)``.

The right side of ``a && b`` has effects, and happens only if ``a`` holds. In a loop's test that is ``if (!a) break;``
before them: what the right side counts then bounds the rounds.
"""

from __future__ import annotations

from typing import Any

from kraise.ir.kernel import Assign, Break, Const, Expr, If, Op, Stmt, Var
from kraise.ir.types import BOOL


def in_turns(tested: list[Stmt], c: Expr, span: Any) -> tuple[Expr, list[Stmt], Expr]:
    """What is asked first, the statements that happen if it holds, and what is asked after them. ``tested`` are the
    effects of a test and what it asks before them, ``c`` what is asked at their end."""
    match tested:
        case [
            Assign(name=t, value=a),
            If(condition=Var(name=asked), body=(*inner, Assign(name=set_, value=b)), orelse=()),
        ]:
            pass
        case _:
            return Const(True, BOOL), tested, c
    first, *rest = _sides(c)
    if not (t == asked == set_ and isinstance(first, Var) and first.name == t):
        return Const(True, BOOL), tested, c
    for r in (b, *rest):
        c = r if r is b else Op("and", (c, r), BOOL, span=span)
    return a, list(inner), c


def leaving(first: Expr, span: Any) -> list[Stmt]:
    """The end of a loop where what is asked first does not hold."""
    if isinstance(first, Const) and first.value:
        return []
    return [If(Op("not", (first,), BOOL, span=span), (Break(span=span),), span=span)]


def _sides(c: Expr) -> list[Expr]:
    match c:
        case Op(name="and", args=(a, b)):
            return [*_sides(a), b]
    return [c]


__all__ = ["in_turns", "leaving"]
