"""Both arms of a branch that data decide, as one: ``if (w > v) { v = w; at = wat; } else if (w == v && wat < at) at =
wat;`` changes what ``if (w > v || (w == v && wat < at)) { v = w; at = wat; }`` does.

Side conditions, checked: the second arm's statements are among the first one's, and each other one of these stores one
of the two that are compared in the place of the other, which changes nothing where they are equal.
"""

from __future__ import annotations

from kraise.ir import kernel as k
from kraise.ir.types import BOOL

_Stmts = tuple[k.Stmt, ...]


def with_tie(c: k.Expr, body: _Stmts, orelse: _Stmts) -> tuple[k.Expr, _Stmts, _Stmts]:
    """The condition and the arms of a branch, the second arm within the first where it is what a tie does."""
    match c, orelse:
        case k.Op(name="lt" | "gt", args=(x, y)), (k.If(condition=other, body=same, orelse=()),):
            pass
        case _:
            return c, body, orelse
    match other, same:
        case k.Op(name="and", args=(k.Op(name="eq", args=pair), tie)), _:
            pass
        case k.Op(name="eq", args=pair), (k.If(condition=tie, body=inner, orelse=()),):
            other, same = k.Op("and", (other, tie), BOOL), inner
        case _:
            return c, body, orelse
    rest = [s for s in body if s not in same]
    if pair not in ((x, y), (y, x)) or len(body) != len(rest) + len(same) or not all(_stores(s, x, y) for s in rest):
        return c, body, orelse
    return k.Op("or", (c, other), BOOL), body, ()


def _stores(s: k.Stmt, x: k.Expr, y: k.Expr) -> bool:
    """Whether ``s`` puts one of the two in the place of the other."""
    match s:
        case k.Assign(name=name, value=v, type=t):
            return (k.Var(name, t), v) in ((x, y), (y, x))
        case k.Store(array=array, subscripts=subs, value=v):
            return (k.Load(array, subs, v.type), v) in ((x, y), (y, x))
    return False


def place(s: k.Stmt) -> object:
    """What a statement sets."""
    return s.name if isinstance(s, k.Assign) else (s.array, s.subscripts) if isinstance(s, k.Store) else s


__all__ = ["place", "with_tie"]
