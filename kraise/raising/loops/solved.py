"""A comparison solved for the variable that moves: ``(v + 1) * 16 < n`` is ``v < (n + 15) // 16 - 1``."""

from __future__ import annotations

from dataclasses import replace

from kraise.ir import kernel as k
from kraise.raising.run.liveness import reads


def solved(relation: str, a: k.Expr, b: k.Expr, moving: frozenset[str]) -> tuple[k.Expr, k.Expr]:
    """``a relation b``, of which ``a`` holds one of the locals ``moving``, with as little as possible beside it."""
    while True:
        simpler = _alone(*_whole(relation, _counter(a), b), moving)
        if simpler[0] is a:
            return simpler
        a, b = simpler


def _counter(a: k.Expr) -> k.Expr:
    """A signed counter that a longer number is compared with: it does not wrap before it gets there."""
    match a:
        case k.Cast(type=wide, arg=k.Var(type=own) as v) if own.kind == wide.kind == "int":
            if own.bits is not None and wide.bits is not None and own.bits <= wide.bits:
                return v
    return a


def _alone(a: k.Expr, b: k.Expr, moving: frozenset[str]) -> tuple[k.Expr, k.Expr]:
    """``v + 3 < n`` as ``v < n - 3`` (of signed integers, which do not wrap), and ``base + v < n`` likewise."""
    match a:
        case k.Op(name="add" | "sub" as name, args=(x, y), type=t) if t.kind == b.type.kind == "int":
            for v, c in ((x, y), (y, x)) if name == "add" else ((x, y),):
                if reads(v) & moving and c.type.kind == "int" and not reads(c) & moving:
                    return v, k.Op("sub" if name == "add" else "add", (b, c), t)
    return a, b


def _whole(relation: str, a: k.Expr, b: k.Expr) -> tuple[k.Expr, k.Expr]:
    """``v * 16 < n`` as ``v < (n + 15) // 16`` (of signed integers, which do not wrap), and the other relations
    likewise."""
    match a:
        case k.Op(name="mul", args=(x, y), type=t) if t.kind == b.type.kind == "int" and relation != "ne":
            for v, c in ((x, y), (y, x)):
                if isinstance(c, k.Const) and type(c.value) is int and c.value > 0 and not isinstance(v, k.Const):
                    up = relation in ("lt", "ge")
                    most = k.Op("add", (b, k.Const(c.value - 1, b.type)), b.type) if up else b
                    return v, k.Op("floordiv", (most, replace(c, type=b.type)), b.type)
    return a, b


__all__ = ["solved"]
