"""What sizes decide once the function has returned for those that are too small: ``max(m, 1)`` is ``m`` there."""

from __future__ import annotations

from dataclasses import replace

from kraise.emit.text.linear import Linear, linear, nonnegative
from kraise.ir import equations as eq
from kraise.ir.types import BOOL
from kraise.ir.walk import map_statement, transform

_TRUE = eq.Const(True, BOOL)


def settled(kernel: eq.Kernel, assumed: tuple[Linear, ...]) -> eq.Kernel:
    """``kernel`` where none of the sums ``assumed`` is negative."""
    memo: dict[eq.Expr, eq.Expr] = {}

    def fn(e: eq.Expr) -> eq.Expr:
        return given(e, assumed, memo)

    def statement(s: eq.Stmt) -> eq.Stmt:
        match s:
            case eq.Write(where=where) if where is _TRUE:
                return replace(s, where=None)
            case eq.Fold(body=body):
                return replace(s, body=tuple(map(statement, body)))
        return s

    names = tuple(replace(n, expr=fn(n.expr)) for n in kernel.names)
    body = tuple(statement(map_statement(s, fn)) for s in kernel.body)
    returns = tuple(r if isinstance(r, eq.Version) else fn(r) for r in kernel.returns)
    return replace(kernel, body=body, names=names, returns=returns)


def given(e: eq.Expr, assumed: tuple[Linear, ...], memo: dict[eq.Expr, eq.Expr] | None = None) -> eq.Expr:
    """``e`` where none of the sums is negative."""

    def known(a: eq.Expr, b: eq.Expr) -> bool:
        gap = linear(a) - linear(b)
        return any(nonnegative(gap - s) for s in assumed)

    def one(node: eq.Expr) -> eq.Expr:
        match node:
            case eq.Op(name="max", args=(a, b)) if node.type.is_integer:
                return a if known(a, b) else b if known(b, a) else node
            case eq.Op(name="min", args=(a, b)) if node.type.is_integer:
                return b if known(a, b) else a if known(b, a) else node
            case eq.Op(name="ge", args=(a, b)) if a.type.is_integer and b.type.is_integer and known(a, b):
                return _TRUE
            case eq.Op(name="and", args=(a, b)) if _TRUE in (a, b):
                return b if a is _TRUE else a
            case eq.Op(name="or", args=(a, b)) if _TRUE in (a, b):
                return _TRUE
            case eq.Op(name="select", args=(c, a, _)) if c is _TRUE:
                return a
        return node

    return transform(e, one, memo)
