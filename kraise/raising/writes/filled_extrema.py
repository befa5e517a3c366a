"""Extrema of a block in which lanes without an element have a number: ``s[t] = i < n ? fabsf(x[i]) : 0.0f``, then the
greatest of all, in an atomic.

The number counts for the lanes outside, and the elements for those inside: two atomics, one of them by the launch as a
whole. So the guard is that of a store, which bounds the threads. Side conditions, checked: no element lies beyond the
number, so it does not matter whether there is a lane outside; nothing but the launch and a thread's number in its block
says who does it (a launch has a block, and a block a thread 0).
"""

from __future__ import annotations

from functools import partial

from kraise.ir import equations as eq
from kraise.ir.walk import free_indices
from kraise.raising.gradients.intervals import interval
from kraise.raising.run import simplify
from kraise.raising.run.context import Context
from kraise.raising.run.state import State

Part = tuple[eq.Expr, tuple[eq.Expr, ...] | None]


def parts(cx: Context, st: State, op: str, amount: eq.Expr, cell: tuple[eq.Expr, ...]) -> tuple[Part, ...]:
    """The values that are combined one after the other in place of ``amount``, with the conditions under which threads
    do it (None: one does)."""
    whole = ((amount, st.path),)
    if any(map(free_indices, cell)) or not all(map(partial(_by_first, cx), st.path)) or st.folds:
        return whole
    match amount:
        case eq.Reduce(op=own, where=None, body=eq.Op(name="select", args=(c, a, b))) if own == op in ("min", "max"):
            for number, element, inside in ((b, a, c), (a, b, simplify.negation(c))):
                if isinstance(number, eq.Const) and _within(op, element, number.value.real) and _has_lanes(amount):
                    return ((number, None), (eq.Reduce(op, amount.axes, element, inside, amount.type), st.path))
    return whole


def _by_first(cx: Context, condition: eq.Expr) -> bool:
    """Whether the first thread of a block meets a condition in any launch."""
    match condition:
        case eq.Op(name="eq", args=(eq.Index(name=name), eq.Const(value=0))):
            return cx.extents.get(name) == ("blockDim",)
    return condition in cx.launch_path


def _within(op: str, element: eq.Expr, number: float) -> bool:
    least, most = interval(element)
    return least >= number if op == "max" else most <= number


def _has_lanes(node: eq.Reduce) -> bool:
    ends = ((a.lo, a.hi) for a in node.axes)
    return all(isinstance(lo, eq.Const) and isinstance(hi, eq.Const) and lo.value < hi.value for lo, hi in ends)  # type: ignore[operator]


__all__ = ["parts"]
