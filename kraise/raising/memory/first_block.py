"""The threads of block 0, of which more can be proved: ``blockIdx.x * blockDim.x`` is no product of two unknowns."""

from __future__ import annotations

from collections.abc import Iterable

from kraise.analysis.conditions import classify
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, substitute
from kraise.raising.run.context import Context


def place(cx: Context) -> dict[eq.Expr, eq.Expr]:
    """What becomes of the indices of the block."""
    return {eq.Index(b, INT): eq.Const(0, INT) for b in cx.blocks}


def at_first(cx: Context, conditions: Iterable[eq.Expr]) -> tuple[eq.Expr, ...]:
    """The conditions on an instance in block 0, with what bounds its threads."""
    at = place(cx)
    inside = [
        eq.Op("lt", (substitute(thread, at), cx.threads["blockDim", axis]), BOOL)
        for (kind, axis), thread in cx.threads.items()
        if kind == "thread" and free_indices(thread) - {*cx.blocks}
    ]
    return (*(substitute(c, at) for c in conditions), *inside)


def products(cx: Context, conditions: Iterable[eq.Expr]) -> bool:
    """Whether one of the conditions has a block's index times an unknown."""
    at = place(cx)
    polys = [f.poly for f in map(classify, conditions) if f is not None]
    return any(len(m) > 1 and set(m) & set(at) for p in polys for m in p.terms)


__all__ = ["at_first", "place", "products"]
