"""Grid-stride loops: a loop from a thread's index in steps of the number of threads (raising.md, step 2)."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from functools import partial
from itertools import permutations

from kraise.analysis.boxes import Unbounded
from kraise.analysis.conditions import is_static
from kraise.analysis.division import divided
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.analysis.segments import plain
from kraise.diagnostics import Refused
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, substitute
from kraise.raising.loops.distributed import carried_by, distributed
from kraise.raising.loops.folds import Sequential
from kraise.raising.run.context import Context, Strided
from kraise.raising.run.state import State, expressions
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
    names = frozenset(n for n in cx.thread_names if n in st.open and n in moving)
    number = _number(cx, to_poly(start), to_poly(step), names)
    if number is None:
        return False
    threads, each = number  # elements of a thread, which are next to each other
    origin = to_poly(start) - to_poly(threads.number) * each
    outside = [c for c in st.path if names & free_indices(c)]
    if any(c not in cx.launch_path for c in outside):
        return False
    if is_static(elements := to_poly(stop) - origin):
        cx.shared_ends[threads.names, to_expr(elements)] = None
    if carried_by(s, live):
        return _apart(cx, st, s, live)
    (name, *more) = threads.names
    if not (of_block(cx, stop) and is_static(origin)):
        return each == 1 and not more and _row(cx, st, s, (to_expr(origin), stop), name, live)
    way = replace(threads, origin=to_expr(origin if each == 1 else Poly()))
    own = name if s.var.endswith("$round") or each > 1 else s.var
    index = cx.index(own, tuple(n for n in st.open if n not in names), way)
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
    inner.open = tuple(m for n in st.open if n not in more for m in (indices if n == name else (n,)))
    inner.path = tuple(dict.fromkeys((*(c for c in st.path if c not in outside), *bounds)))
    inner.env = {n: v for n, v in st.env.items() if not names & free_indices(v)} | {s.var: value}
    before, threads_before = cx.thread_names, cx.threads
    cx.thread_names = tuple(dict.fromkeys((*cx.thread_names, *indices)))
    # what asks for the thread itself must not take the loop's index for it, which may have its name
    own_names: dict[eq.Expr, eq.Expr] = {eq.Index(n, INT): eq.Index(f"${n}", INT) for n in names}
    cx.threads = {what: substitute(e, own_names) for what, e in cx.threads.items()}
    inner.locals = {
        n: replace(a, prefix=tuple(f"${p}" if p in names else p for p in a.prefix)) for n, a in inner.locals.items()
    }
    mentioned = partial(_mentioned, inner, len(st.out), len(st.accesses), {f"${n}" for n in names})
    try:
        block(cx, inner, s.body, live)
    except Refused as refused:
        if more or any(d.code == "KR207" for d in refused.diagnostics) or mentioned():
            cx.thread_names = before
            return False
        raise
    finally:
        cx.threads = threads_before
    if mentioned() or (more and _mentioned(inner, len(st.out), len(st.accesses), names)):
        cx.thread_names = before  # a block's own array, or the thread itself
        return False
    inner.env, inner.open, inner.path, inner.locals = st.env, st.open, st.path, inner.locals | st.locals
    st.become(inner)
    return True


def upwards(cx: Context, st: State, s: k.For, start: eq.Expr, stop: eq.Expr, step: eq.Expr) -> k.For | None:
    """``for (k = n - 1 - i; k >= 0; k -= threads)`` counted from the thread's index up, with k made of that number;
    None if the loop is not of this shape."""
    first = to_poly(plain(start))
    names = frozenset(n for n in cx.thread_names if n in st.open and n in first.indices())
    if not names or s.type.kind != "int" or isinstance(step, eq.Const):
        return None
    number = _number(cx, -first, -to_poly(step), names)
    if number is None or number[1] != 1:
        return None
    threads = to_poly(number[0].number)
    last = first + threads
    if not is_static(last):
        return None
    values = {"last": last, "number": threads, "end": last - to_poly(stop), "by": -to_poly(step)}
    own = {what: k.Var(f"${s.var}${what}", INT) for what in values}
    st.env |= {own[what].name: to_expr(poly) for what, poly in values.items()}
    at = f"{s.var}$round"
    place = k.Op("sub", (own["last"], k.Var(at, INT)), INT)
    body = (k.Assign(s.var, k.Cast(s.type, place), s.type, span=s.span), *s.body)
    return replace(s, var=at, start=own["number"], stop=own["end"], step=own["by"], body=body, type=INT)


def of_block(cx: Context, e: eq.Expr) -> bool:
    """Whether a number is known, but for the block's index: ``blockIdx.x + 1``."""
    poly = to_poly(e)
    for b in free_indices(e) & {*cx.blocks}:
        if poly.is_affine_in((b,)):
            poly = poly.without(eq.Index(b, INT))
    return is_static(poly)


def _number(cx: Context, start: Poly, step: Poly, names: frozenset[str]) -> tuple[Strided, int] | None:
    """The number of a thread that ``start`` counts from, of as many as ``step`` says, with how many elements each has
    at once: an index, or several as the digits of a number (``block * warps + warp``); None if it is no such number."""
    if not names or cx.lane in names:
        return None  # what the lanes of a warp exchange, they do in step
    if len(names) > 1 and not names & {*cx.blocks}:
        return None  # a block's threads fill a tile of theirs
    extents = {n: _extent(cx, n) for n in names}
    least = min((start.coefficient(eq.Index(n, INT)).value or 0 for n in names), default=0)
    each = least or 1
    for order in permutations(sorted(names)):
        number, size = Poly(), Poly({(): 1})
        for n in order:
            index, extent = eq.Index(n, INT), extents[n]
            if extent is None or start.coefficient(index) != size * each:
                break
            number, size = number + to_poly(index) * size, size * extent
        else:
            if each >= 1 and step == size * each and not names & (start - number * each).indices():
                digits = tuple((n, to_expr(e)) for n in order if (e := extents[n]) is not None)
                return Strided(digits, to_expr(number), to_expr(size)), each
    return None


def _extent(cx: Context, name: str) -> Poly | None:
    """How many values an index of the threads has: of a whole axis, or of the warps along it."""
    whole = cx.whole_of.get(name)  # which may have the name of its warp
    if whole is None:
        return cx.stride(name) if name in cx.axes else None  # else a digit of the thread's index
    if name == cx.lane or whole not in cx.axes:
        return None
    warps, rest = divided(cx.stride(whole), Poly({(): cx.warp}))
    return None if rest.terms else warps


def _mentioned(st: State, outs: int, accesses: int, names: Set[str]) -> bool:
    """Whether what is new in a state speaks of these indices."""
    left = [e for r in st.out[outs:] for e in expressions(r)]
    left += [e for a in st.accesses[accesses:] for e in (*a.subscripts, *a.path)]
    return any(free_indices(e) & names for e in left)


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
