"""Grid-stride loops: a loop from a thread's index in steps of the number of threads (raising.md, step 2)."""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.boxes import Unbounded
from kraise.analysis.conditions import is_static
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.analysis.segments import plain
from kraise.diagnostics import Refused
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices
from kraise.raising.loops.distributed import carried_by, distributed
from kraise.raising.loops.folds import Sequential
from kraise.raising.run.context import Context
from kraise.raising.run.state import State
from kraise.raising.run.statements import block
from kraise.raising.threads.splits import split_index


def grid_stride(
    cx: Context, st: State, s: k.For, start: eq.Expr, stop: eq.Expr, step: eq.Expr, live: frozenset[str]
) -> bool:
    """A loop from a thread's index in steps of the number of threads: with the threads, one index over the whole range.

    The body is run with that index in place of the thread's. Returns False, having done nothing, if the loop is not of
    this shape.
    """
    start = plain(start)
    moving = {a.name for a in to_poly(start).atoms() if isinstance(a, eq.Index)}  # not in what is loaded for a row
    threads = [n for n in cx.thread_names if n in st.open and n in moving]
    if len(threads) != 1:
        return False
    (name,) = threads
    if name not in cx.axes:
        return False  # a digit of the thread's index
    thread = eq.Index(name, INT)
    each = to_poly(start).coefficient(thread).value or 0  # elements of a thread, which are next to each other
    origin = to_poly(start) - to_poly(thread) * each
    if each < 1 or name in origin.indices() or to_poly(step) != cx.stride(name) * each:
        return False
    outside = [c for c in st.path if name in free_indices(c)]
    if any(c not in cx.launch_path for c in outside):
        return False
    if carried_by(s, live):
        return _apart(cx, st, s, live)
    if not (is_static(to_poly(stop)) and is_static(origin)):
        return each == 1 and _row(cx, st, s, (to_expr(origin), stop), name, live)
    way = (name, to_expr(cx.stride(name)), to_expr(origin if each == 1 else Poly()))
    own = name if s.var.endswith("$round") or each > 1 else s.var
    index = cx.index(own, tuple(n for n in st.open if n != name), way)
    cx.strides[index.name] = way
    inner = st.copy()
    bounds: tuple[eq.Expr, ...] = (
        eq.Op("ge", (index, to_expr(origin)), BOOL),
        eq.Op("lt", (index, stop), BOOL),
    )
    value: eq.Expr = index
    if each > 1:
        value = to_expr(to_poly(index) * each + origin)
        bounds = (eq.Op("ge", (index, eq.Const(0, INT)), BOOL), eq.Op("lt", (value, stop), BOOL))
    indices: tuple[str, ...] = (index.name,)
    if not origin.terms and each == 1:
        value, indices, bounds = split_index(cx, index, bounds)
    inner.open = tuple(m for n in st.open for m in (indices if n == name else (n,)))
    inner.path = tuple(dict.fromkeys((*(c for c in st.path if c not in outside), *bounds)))
    inner.env = {n: v for n, v in st.env.items() if name not in free_indices(v)} | {s.var: value}
    cx.thread_names = tuple(dict.fromkeys((*cx.thread_names, *indices)))
    try:
        block(cx, inner, s.body, live)
    except Refused as refused:
        if any(d.code == "KR207" for d in refused.diagnostics):
            return False
        raise
    inner.env, inner.open, inner.path = st.env, st.open, st.path
    st.become(inner)
    return True


def _row(cx: Context, st: State, s: k.For, ends: tuple[eq.Expr, eq.Expr], name: str, live: frozenset[str]) -> bool:
    """The loop over a row that data give (``for k in range(ptr[i] + t, ptr[i + 1], threads)``), by all threads at once:
    one over the whole row, whose index is that of a thread."""
    inner = st.copy()
    inner.open = tuple(n for n in st.open if n != name)
    inner.path = tuple(c for c in st.path if name not in free_indices(c))
    inner.env = {n: v for n, v in st.env.items() if name not in free_indices(v)}
    names = [f"${s.var}.{part}" for part in ("start", "stop")]
    inner.env |= dict(zip(names, ends, strict=True))
    first, last = (k.Var(n, s.type, span=s.span) for n in names)
    index = cx.index(s.var, inner.open)
    try:
        cx.loop(inner, replace(s, start=first, stop=last, step=k.Const(1, s.type)), live, True)
    except (Refused, Sequential, Unbounded):
        return False
    cx.thread_names = tuple(dict.fromkeys((*cx.thread_names, index.name)))
    cx.whole_rows.add(index.name)
    inner.env, inner.open, inner.path = st.env, st.open, st.path
    st.become(inner)
    return True


def _apart(cx: Context, st: State, s: k.For, live: frozenset[str]) -> bool:
    """The loop as one that stores and one that accumulates, if it may be taken apart."""
    loops = distributed(cx, st, s, live)
    if loops is None:
        return False
    inner = st.copy()
    try:
        block(cx, inner, loops, live)
    except Refused:
        return False
    st.become(inner)
    return True
