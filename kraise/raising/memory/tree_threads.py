"""Which threads of a block take part in a tree, and which cells are theirs (see
:mod:`kraise.raising.memory.tree_reductions`)."""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.conditions import Fact, classify
from kraise.analysis.delinearize import provable
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, substitute, topological
from kraise.raising.memory.tree_steps import Steps
from kraise.raising.run.arithmetic import operation
from kraise.raising.run.context import Context
from kraise.raising.run.state import Raw, RawWrite, State
from kraise.raising.threads.launched import is_extent
from kraise.raising.writes.accumulate import contribution

ZERO = eq.Const(0, INT)


def pinned(cx: Context, st: State, r: RawWrite, w: eq.Index) -> RawWrite:
    """``r`` without the conditions that one row of the block's threads makes it (``threadIdx.y == 0``), which always is
    there; its cells are those of that row."""
    inside = {eq.Index(n, INT) for n in cx.thread_names if n not in cx.blocks} - {w}
    pins: dict[eq.Expr, eq.Expr] = {}
    for c in r.path:
        match classify(c) if c not in st.path else None:
            case Fact(kind="eq", poly=poly) if (i := next(iter(poly.atoms()), None)) in inside:
                if poly in (to_poly(i), -to_poly(i)) and i in cx.threads.values():  # type: ignore[arg-type]
                    pins[i] = ZERO  # type: ignore[index]
    if not pins:
        return r
    path = tuple(c for c in r.path if c in st.path or not free_indices(c) or not free_indices(c) <= _names(pins))
    subs = tuple(substitute(x, pins) for x in r.subscripts)
    if any(free_indices(substitute(c, pins)) & _names(pins) for c in path if c not in st.path):
        return r
    return replace(r, path=tuple(c if c in st.path else substitute(c, pins) for c in path), subscripts=subs)


def one_thread_a_cell(cx: Context, st: State, given: RawWrite, chosen: RawWrite) -> bool:
    """Whether the cell tells every index of the block's threads, but for those that are pinned."""
    told = frozenset().union(*(free_indices(s) for s in given.subscripts))
    free = [n for n in st.open if n in cx.thread_names and n not in cx.blocks and n not in told]
    return all(given is not chosen and any(_pins(c, n) for c in given.path) for n in free)


def of_one_warp(cx: Context, st: State, r: Raw) -> bool:
    """Whether only the lanes of one warp have to do with the cells that are combined: rows of an array, one for each
    warp (``s[threadIdx.y][lane]``)."""
    if not isinstance(r, RawWrite):
        return False
    inside = {n for n in st.open if n in cx.thread_names and n not in cx.blocks}
    rows = {s.name for s in r.subscripts if isinstance(s, eq.Index)} - cx.lanes()
    lanes = frozenset().union(*(free_indices(s) for s in r.subscripts)) & inside - rows
    return inside - cx.lanes() <= rows and lanes <= cx.lanes()


def _pins(c: eq.Expr, name: str) -> bool:
    fact = classify(c)
    i = to_poly(eq.Index(name, INT))
    return fact is not None and fact.kind == "eq" and fact.poly in (i, -i)


def _names(pins: dict[eq.Expr, eq.Expr]) -> frozenset[str]:
    return frozenset(i.name for i in pins if isinstance(i, eq.Index))


def cells(cx: Context, st: State, cell: Poly, size: Poly) -> tuple[tuple[eq.Axis, ...], eq.Expr]:
    """The cells by the thread that each is of, where a block has several axes: ``threadIdx.y * blockDim.x +
    threadIdx.x`` takes each of ``size`` once. Nothing, if the cell is no such number."""
    own = [(axis, e) for (kind, axis), e in sorted(cx.threads.items()) if kind == "thread"]
    own = [(axis, e) for axis, e in own if isinstance(e, eq.Index) and e.name in cell.indices()]
    if len(own) < 2:
        return (), ZERO
    stride, number = Poly({(): 1}), Poly()
    axes: list[eq.Axis] = []
    place = Poly()
    taken: list[str] = []
    for axis, e in own:
        extent = cx.threads["blockDim", axis]
        x = cx.index("t", (*st.open, *cx.blocks, *_used(st), *taken))
        taken.append(x.name)
        axes.append(eq.Axis(x.name, ZERO, extent))
        number, place = number + to_poly(e) * stride, place + to_poly(x) * stride
        stride = stride * to_poly(extent)
    return (tuple(reversed(axes)), to_expr(place)) if number == cell and stride == size else ((), ZERO)


def enough_threads(cx: Context, st: State, cell: Poly, steps: Steps) -> bool:
    """Whether a block has a thread for each cell that takes another one's value, which is demanded where it is not
    known: cells that its threads fill in rounds may be more than it has. False where the cells do not tell."""
    own = [(axis, e) for (kind, axis), e in sorted(cx.threads.items()) if kind == "thread"]
    own = [(axis, e) for axis, e in own if free_indices(e) & cell.indices()]
    number, threads = Poly(), Poly({(): 1})
    for axis, e in own:
        number = number + to_poly(e) * threads
        threads = threads * to_poly(cx.threads["blockDim", axis])
    if not own or (number != cell and len(own) > 1):
        return False
    # of doubling strides, the last cell of an odd size has no partner
    enough = threads - steps.size + 1 if number == cell and not steps.down else threads * 2 - steps.size
    if min(enough.terms.values(), default=0) >= 0 and all(map(is_extent, enough.atoms())):
        return True  # it has one for each cell
    if provable((*st.path, *st.facts), enough):
        return True
    least = to_expr(steps.size - 1) if number == cell and not steps.down else _rounded_up(steps.size)
    block = to_expr(threads)
    shown, given = render_expr(least), eq.Op("not", (eq.Param("block.given", BOOL),), BOOL)
    test = eq.Op("or", (given, eq.Op("ge", (block, least), BOOL)), BOOL)
    if (test, message := f"block must have {shown} threads or more") not in cx.checks:
        cx.checks.append((test, message))
        cx.assumptions.append(f"block has {shown} threads or more (one for each cell that takes another one's value)")
    return True


def _rounded_up(size: Poly) -> eq.Expr:
    return to_expr(to_poly(operation("floordiv", (to_expr(size + 1), eq.Const(2, INT)), INT)))


def cx_index(cx: Context, st: State) -> eq.Index:
    """A fresh index for the cells of a block."""
    return cx.index("t", (*st.open, *cx.blocks, *_used(st)))


def _used(st: State) -> set[str]:
    """The indices that values of the writes so far hold."""
    values = [r.value for r in st.out if isinstance(r, RawWrite)]
    return {n.name for n in topological(values) if isinstance(n, eq.Index)}


def uncast(e: eq.Expr) -> eq.Expr:
    """``e`` without conversions that keep the value: ``s[t] += (int)s[t + w]`` of floats is no sum of the cells."""
    while isinstance(e, eq.Cast):
        old, new = e.arg.type, e.type
        wider = old.kind == new.kind and (new.bits or 64) >= (old.bits or 64)
        if not wider and "number" not in (old.kind, new.kind) and not (new.is_inexact and old.is_inexact):
            return e
        e = e.arg
    return e


def bit_by_bit(r: Raw) -> Raw:
    """``s[t] = s[t] ^ e``, a plain store elsewhere, as what is combined into its cell."""
    if isinstance(r, RawWrite) and not r.accumulate:
        how = contribution(r.value, eq.Read(r.before, r.subscripts, r.value.type))
        if how is not None and how.op in ("and_", "or_", "xor") and how.value is not None and how.where is None:
            return replace(r, accumulate=how.op, value=how.value)
    return r


__all__ = [
    "bit_by_bit",
    "cells",
    "cx_index",
    "enough_threads",
    "of_one_warp",
    "one_thread_a_cell",
    "pinned",
    "uncast",
]
