"""Loops in steps of the launch's size that are not one index with the threads: rounds over all threads.

``for i in range(first, n, blockDim.x * gridDim.x)`` is ``for r in range(rounds): i = first + r * step; if i < n: …``.
"""

from __future__ import annotations

from kraise.analysis.boxes import largest
from kraise.analysis.conditions import is_static, static_expr
from kraise.analysis.dependence import nonnegative
from kraise.analysis.division import divided
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT
from kraise.raising.loops.grid_stride import of_block
from kraise.raising.loops.ranges import positive, whole_rounds
from kraise.raising.run.context import Context
from kraise.raising.run.state import State
from kraise.raising.run.statements import block
from kraise.raising.threads.launched import at_least_one, is_extent


def strided(
    cx: Context, st: State, s: k.For, start: eq.Expr, stop: eq.Expr, step: eq.Expr, live: frozenset[str]
) -> bool:
    """Runs the loop if its step is a number of threads; returns False, having done nothing, if it is not."""
    return _in_rounds(cx, st, s, (start, stop, step), live)


def by_size(
    cx: Context, st: State, s: k.For, start: eq.Expr, stop: eq.Expr, step: eq.Expr, live: frozenset[str]
) -> bool:
    """Runs a loop in steps of a size from a start that differs from thread to thread; returns False, having done
    nothing, if it is none."""
    down = isinstance(step, eq.Op) and step.name == "neg"
    gap = to_poly(stop) - to_poly(start)
    if down or s.orelse or s.var in live or not to_poly(start).indices() or is_static(gap):
        return False
    return _in_rounds(cx, st, s, (start, stop, step), live, sized=True)


def _in_rounds(
    cx: Context,
    st: State,
    s: k.For,
    ends: tuple[eq.Expr, eq.Expr, eq.Expr],
    live: frozenset[str],
    *,
    sized: bool = False,
) -> bool:
    start, stop, step = ends
    size = to_poly(step)
    end = to_poly(stop)
    if not is_static(end) and of_block(cx, stop):  # ``j <= blockIdx.x``
        end = largest(end, (*st.path, *st.facts)) or end
    if not is_static(end) or not (
        sized
        or size.value is None
        and (at_least_one(step) or step in cx.named.values())
        or _by_digit(cx, st, to_poly(start), size)
    ):
        return False
    origin = Poly()
    if not nonnegative((*st.path, *st.facts), to_poly(start)) and not _counts(to_poly(start), cx):
        origin = Poly({m: c for m, c in to_poly(start).terms.items() if static_expr(to_expr(Poly({m: c})))})
        moved = to_poly(start) - origin
        if not nonnegative((*st.path, *st.facts), moved) and not _counts(moved, cx):
            return False
    if sized:
        positive(cx, st, step)
    names = {n: f"${s.var}${n}" for n in ("start", "stop", "step", "origin", "end")}
    t = INT  # a count of rounds, whatever the type of the variable
    at = {n: k.Var(v, t, span=s.span) for n, v in names.items()}
    one = k.Const(1, t)
    gap = at["end"] if not origin.terms else k.Op("sub", (at["end"], at["origin"]), t)
    last = k.Op("sub", (k.Op("add", (gap, at["step"]), t), one), t)
    count: k.Expr = k.Op("floordiv", (last, at["step"]), t)
    if (whole := whole_rounds(end - origin, step)) is not None:
        names["rounds"] = f"${s.var}rounds"
        count = k.Var(names["rounds"], t, span=s.span)
    fresh = f"${s.var.lstrip('$').removesuffix('$round')}_round"
    now = k.Op("add", (at["start"], k.Op("mul", (k.Var(fresh, t), at["step"]), t)), t)
    inside = k.Op("lt", (k.Var(s.var, t), at["stop"]), BOOL)
    if end != to_poly(stop):  # it goes without saying, and is the end of all blocks
        inside = k.Op("and", (k.Op("lt", (k.Var(s.var, t), at["end"]), BOOL), inside), BOOL)
    own = to_poly(start) - origin  # a place of the first step
    every = whole is not None and not (divided(end - origin, size)[1]).terms and end == to_poly(stop)
    every = every and nonnegative((*st.path, *st.facts), own) and nonnegative((*st.path, *st.facts), size - 1 - own)
    body = (k.Assign(s.var, now, t, span=s.span), *(s.body if every else (k.If(inside, s.body),)))
    st.env.pop(s.var, None)
    st.env |= {names["start"]: start, names["stop"]: stop, names["step"]: step, names["origin"]: to_expr(origin)}
    if whole is not None:
        st.env[names["rounds"]] = whole
    st.env[names["end"]] = stop if end == to_poly(stop) else to_expr(end)
    block(cx, st, (k.For(fresh, k.Const(0, t), count, one, body, type=t, span=s.span),), live - {s.var})
    for n in (*names.values(), s.var):
        st.env.pop(n, None)  # what the variable is after the loop has no form: a read of it is refused
    return True


def _by_digit(cx: Context, st: State, start: Poly, size: Poly) -> bool:
    """Whether the loop goes from a thread's (or lane's) number, which is below ``size``, in steps of that number."""
    if size.value is None or size.value < 2 or not start.indices() & set(cx.thread_names):
        return False
    known = (*st.path, *st.facts)
    return nonnegative(known, start) and nonnegative(known, size - 1 - start)


def _counts(start: Poly, cx: Context) -> bool:
    """Whether the start is a sum of thread and block indices times sizes of the launch."""
    indices = set(cx.threads.values())
    return all(
        c >= 0 and all(a in indices or isinstance(a, eq.Index) and a.name in cx.thread_names or is_extent(a) for a in m)
        for m, c in start.terms.items()
    )


__all__ = ["by_size", "strided"]
