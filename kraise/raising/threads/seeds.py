"""The number with which every thread starts its own extremum, taken once for all of them.

The greatest of ``max(first, greatest of a thread's own)`` over the threads is ``max(first, greatest of all)``: what is
left is one reduction, whose indices merge (raising.md, step 2).
"""

from __future__ import annotations

from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq


def started(node: eq.Reduce) -> tuple[eq.Expr, eq.Reduce] | None:
    """The number and the reduction over all; None if there is no such number, or perhaps no thread."""
    if node.op not in ("min", "max") or node.where is not None:
        return None
    match node.body:
        case (
            eq.Op(name=op, args=(eq.Const() as first, eq.Reduce(op=own) as inner))
            | eq.Op(name=op, args=(eq.Reduce(op=own) as inner, eq.Const() as first))
        ) if op == own == node.op and inner.type == node.type:
            if all(a.step == 1 and to_poly(a.lo).value == 0 and _some(a.hi) for a in node.axes):
                return first, eq.Reduce(op, node.axes, inner, None, node.type)
    return None


def _some(count: eq.Expr) -> bool:
    """Whether there is at least one: threads of a block, or a number."""
    if isinstance(count, eq.Param) and count.name.startswith("block."):
        return True
    n = to_poly(count).value
    return n is not None and n >= 1


__all__ = ["started"]
