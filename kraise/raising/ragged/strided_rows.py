"""Rows that the threads of a block go through together: ``for k in range(ptr[row] + t, ptr[row + 1], blockDim.x)``.

A thread's rounds are those of ``range(ptr[row] + t, ptr[row + 1])`` in which ``(k - (ptr[row] + t)) % blockDim.x`` is
zero. So said, the loop is one over the row under a condition, and what the threads' results are combined to is the
result over the whole row (:mod:`kraise.raising.writes.narrowed`).
"""

from __future__ import annotations

from kraise.analysis.boxes import Unbounded
from kraise.analysis.conditions import is_static
from kraise.analysis.poly import to_poly
from kraise.diagnostics import Refused
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL
from kraise.raising.loops.folds import Sequential
from kraise.raising.run.context import Context
from kraise.raising.run.state import State
from kraise.raising.threads.launched import at_least_one


def strided_rows(
    cx: Context, st: State, s: k.For, start: eq.Expr, stop: eq.Expr, step: eq.Expr, live: frozenset[str]
) -> bool:
    """Runs a loop over a range that data give, in steps of a number of threads from a thread's own on; returns False,
    having done nothing, if it is no such loop or its rounds are not free."""
    threads = to_poly(start).indices() & set(cx.thread_names)
    if isinstance(step, eq.Const) or not at_least_one(step) or is_static(to_poly(stop)) or not threads:
        return False
    if (s.span, s.var) in cx.longest or s.orelse or s.var in live:
        return False
    inner = st.copy()
    names = [f"${s.var}.{part}" for part in ("start", "stop", "step")]
    inner.env |= dict(zip(names, (start, stop, step), strict=True))
    first, last, size = (k.Var(n, s.type, span=s.span) for n in names)
    apart = k.Op("mod", (k.Op("sub", (k.Var(s.var, s.type), first), s.type), size), s.type)
    mine = k.Op("eq", (apart, k.Const(0, s.type)), BOOL)
    every = k.For(
        s.var, first, last, k.Const(1, s.type), (k.If(mine, s.body, (), span=s.span),), type=s.type, span=s.span
    )
    checks, ragged = list(cx.checks), {n: set(v) for n, v in cx.ragged.items()}
    try:
        cx.loop(inner, every, live, True)
    except (Refused, Sequential, Unbounded):
        cx.checks[:], cx.ragged = checks, ragged
        return False
    for n in names:
        inner.env.pop(n, None)
    st.become(inner)
    return True


__all__ = ["strided_rows"]
