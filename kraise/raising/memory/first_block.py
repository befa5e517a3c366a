"""The threads of block 0, of which more can be proved: ``blockIdx.x * blockDim.x`` is no product of two unknowns."""

from __future__ import annotations

from collections.abc import Iterable

from kraise.analysis.conditions import classify
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, substitute
from kraise.raising.run.context import Context


def moved(cx: Context, exprs: Iterable[eq.Expr]) -> tuple[eq.Expr, ...]:
    """The expressions in block 0.

    Raises:
        Unmovable: one holds what a loop carries along the block's index.
    """
    at: dict[eq.Expr, eq.Expr] = {eq.Index(b, INT): eq.Const(0, INT) for b in cx.blocks}
    return tuple(substitute(e, at) for e in exprs)


def at_first(cx: Context, conditions: Iterable[eq.Expr]) -> tuple[eq.Expr, ...]:
    """The conditions on an instance in block 0, with what bounds its threads. Raises Unmovable."""
    inside = [
        eq.Op("lt", (thread, cx.threads["blockDim", axis]), BOOL)
        for (kind, axis), thread in cx.threads.items()
        if kind == "thread" and free_indices(thread) - {*cx.blocks}
    ]
    return moved(cx, (*conditions, *inside))


def products(cx: Context, conditions: Iterable[eq.Expr]) -> bool:
    """Whether one of the conditions has a block's index times an unknown."""
    blocks = {eq.Index(b, INT) for b in cx.blocks}
    polys = [f.poly for f in map(classify, conditions) if f is not None]
    return any(len(m) > 1 and set(m) & blocks for p in polys for m in p.terms)


__all__ = ["at_first", "moved", "products"]
