"""Conditions that only spare memory a transaction: ``if v < x[i]: atomic.min(x, i, v)``.

Whatever value of the cell a thread sees, the cell is no greater later on: where ``v < x[i]`` is false, the minimum
would have left it as it is. So the condition is needless, and that other threads change the cell meanwhile is no race.
"""

from __future__ import annotations

from kraise.ir import kernel as k
from kraise.ir.rename import within

_LESS, _GREATER = ("lt", "le"), ("gt", "ge")


def spared(s: k.If) -> tuple[k.Atomic, tuple[k.Expr, ...], tuple[k.Expr, ...]] | None:
    """The atomic minimum or maximum that is all that ``s`` does, the conditions under which it would change the cell,
    and the others, which do not ask for it; None for any other branch."""
    match s:
        case k.If(body=(k.Atomic(name="min" | "max", result="", values=(v,)) as atomic,), orelse=()):
            parts = conjuncts(s.condition)
            needless = tuple(p for p in parts if _would_change(p, atomic, v))
            others = tuple(p for p in parts if p not in needless)
            asked = any(is_cell(e, atomic) for e in within((others, v, atomic.subscripts), k.Load))
            return (atomic, needless, others) if needless and not asked else None
    return None


def is_cell(e: k.Expr, atomic: k.Atomic) -> bool:
    """Whether ``e`` loads the cell that ``atomic`` changes."""
    return isinstance(e, k.Load) and e.array == atomic.array and e.subscripts == atomic.subscripts


def conjuncts(c: k.Expr) -> tuple[k.Expr, ...]:
    """The conditions that must all hold."""
    if isinstance(c, k.Op) and c.name == "and":
        return tuple(p for a in c.args for p in conjuncts(a))
    return (c,)


def _would_change(c: k.Expr, atomic: k.Atomic, v: k.Expr) -> bool:
    if not isinstance(c, k.Op) or len(c.args) != 2:
        return False
    first, second = c.args
    down = atomic.name == "min"
    if is_cell(second, atomic):
        return first == v and c.name in (_LESS if down else _GREATER)
    return second == v and c.name in (_GREATER if down else _LESS) and is_cell(first, atomic)


__all__ = ["conjuncts", "is_cell", "spared"]
