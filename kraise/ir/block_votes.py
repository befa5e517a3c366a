"""``__syncthreads_count/and/or`` as what they do: the threads that say yes are counted in a cell of the block's."""

from __future__ import annotations

from kraise.diagnostics import Span
from kraise.ir.kernel import Assign, Atomic, Barrier, Const, Expr, Hw, If, Load, LocalArray, Op, Stmt, Store, Var
from kraise.ir.types import BOOL, INT32

ZERO, ONE = Const(0, INT32), Const(1, INT32)


def vote(
    kind: str, says: Expr, array: str, result: str, axes: tuple[int, ...], span: Span | None
) -> tuple[list[Stmt], Expr]:
    """The statements of a vote (``kind`` is count, and, or) on the condition ``says``, and what it answers.

    ``array`` and ``result`` are names that are free; ``axes`` those along which a block has threads. The last barrier
    keeps the next round of a loop from the cell before all have read it.
    """
    first: Expr = Op("eq", (Hw("thread", axes[0], INT32), ZERO), BOOL, span=span)
    for axis in axes[1:]:
        first = Op("and", (first, Op("eq", (Hw("thread", axis, INT32), ZERO), BOOL, span=span)), BOOL, span=span)
    counted = Op("select", (says, ZERO, ONE) if kind == "and" else (says, ONE, ZERO), INT32, span=span)
    steps: list[Stmt] = [
        LocalArray(array, INT32, (ONE,), "shared", span=span),
        If(first, (Store(array, (ZERO,), ZERO, span=span),), span=span),
        Barrier("block", span=span),
        Atomic("add", array, (ZERO,), (counted,), INT32, span=span),
        Barrier("block", span=span),
        Assign(result, Load(array, (ZERO,), INT32, span=span), INT32, span=span),
        Barrier("block", span=span),
    ]
    count = Var(result, INT32, span=span)
    if kind == "count":
        return steps, count
    return steps, Op("eq" if kind == "and" else "gt", (count, ZERO), BOOL, span=span)


__all__ = ["vote"]
