"""The value with which every thread starts its own extremum, taken once for all of them.

The greatest of ``max(first, greatest of a thread's own)`` over the threads is ``max(first, greatest of all)``: what is
left is one reduction, whose indices merge (raising.md, step 2). Likewise the number that idle lanes hold, where no
other lane's value is on the other side of it (0 beside ``fabsf(x[i])``).
"""

from __future__ import annotations

import math

from kraise.analysis.conditions import negate
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.walk import free_indices
from kraise.raising.gradients.intervals import interval
from kraise.raising.threads.launched import at_least_one


def started(node: eq.Reduce) -> tuple[eq.Expr, eq.Reduce] | None:
    """The value and the reduction over all; None if there is no such value, or perhaps no thread."""
    if node.op not in ("min", "max") or node.where is not None:
        return None
    names = {a.name for a in node.axes}
    match node.body:
        case (
            eq.Op(name=op, args=(first, eq.Reduce(op=own) as inner))
            | eq.Op(name=op, args=(eq.Reduce(op=own) as inner, first))
        ) if op == own == node.op and inner.type == node.type and not free_indices(first) & names:
            return (first, eq.Reduce(op, node.axes, inner, None, node.type)) if _runs(node) else None
        case eq.Op(name="select", args=(c, a, b)):
            for kept, condition, rest in ((a, c, b), (b, negate(c), a)):
                if (
                    isinstance(rest, eq.Const)
                    and kept.type == node.type
                    and _beyond(node.op, kept, rest)
                    and _runs(node)
                ):
                    return rest, eq.Reduce(node.op, node.axes, kept, condition, node.type)
    return None


def _beyond(op: str, value: eq.Expr, first: eq.Const) -> bool:
    """Whether the value is never exceeded by ``first``: idle lanes that hold it change nothing."""
    if not isinstance(first.value, int | float) or math.isinf(first.value):
        return False  # what no value is beyond is the mask of the extremum itself
    low, high = interval(value)
    return low >= first.value if op == "max" else high <= first.value


def _runs(node: eq.Reduce) -> bool:
    return all(a.step == 1 and to_poly(a.lo).value == 0 and at_least_one(a.hi) for a in node.axes)


__all__ = ["started"]
