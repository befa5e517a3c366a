"""The threads of one block: the hardware indices as numbers by thread, and values of other threads of the block."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kraise.analysis.division import divided
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import free_indices, substitute, topological, transform
from kraise.raising.collective.integers import cast, number
from kraise.raising.collective.marks import Beyond, Unknown
from kraise.raising.run.arithmetic import index_like, operation, tidy
from kraise.raising.run.context import Context

THREAD = eq.Index("$thread", INT)  # a thread's number in its block
WARPS, LANES = eq.Index("$warp", INT), eq.Index("$lane", INT)


@dataclass(frozen=True)
class Frame:
    """How the indices of the equations give a thread of a block.

    ``local`` replaces the indices that move within a block by the block's number and the thread's (as one index, or
    the warp's and the lane's); ``lane`` is the index of the lane where the equations have one. ``rows``: a block has
    threads along other axes, too; each row of them is made of whole warps, and only lanes of a warp are looked at.
    """

    local: dict[eq.Expr, eq.Expr]
    lane: eq.Index | None
    split: bool
    extent: eq.Expr
    moving: frozenset[str]
    rows: bool = False
    warp: int = 32  # the lanes of a warp, or of a part of it that the others meet in nothing

    def at(self, e: eq.Expr, thread: eq.Expr) -> eq.Expr:
        """``e`` of thread ``thread`` of the same block.

        Raises:
            ValueError: ``e`` holds the result of a loop that is kept along the threads.
        """
        moved = tidy(substitute(e, self.local))
        if self.split:
            high, low = _digits(thread, self.warp)
            return tidy(substitute(_joined(moved, thread, self.warp), {WARPS: high, LANES: low}))
        return tidy(substitute(moved, {THREAD: thread}))

    def at_lane(self, e: eq.Expr, lane: eq.Expr) -> eq.Expr:
        """``e`` of lane ``lane`` of the same warp; ValueError as above."""
        assert self.lane is not None
        return tidy(substitute(e, {self.lane: lane}))


def _digits(thread: eq.Expr, warp: int) -> tuple[eq.Expr, eq.Expr]:
    if isinstance(thread, eq.Const) and isinstance(thread.value, int):
        high, low = divmod(thread.value, warp)
        return eq.Const(high, INT), eq.Const(low, INT)
    lanes = eq.Const(warp, INT)
    return operation("floordiv", (thread, lanes), INT), operation("mod", (thread, lanes), INT)


def _joined(e: eq.Expr, thread: eq.Expr, warp: int) -> eq.Expr:
    """``e`` with the thread's number where its warp and its lane stand for it: ``32 * warp + lane``, or the two as
    digits of a subscript."""

    def one(node: eq.Expr) -> eq.Expr:
        match node:
            case eq.Op(type=t) if index_like(node):
                p = to_poly(node)
                times = p.coefficient(LANES) if p.is_affine_in([WARPS.name, LANES.name]) else Poly()
                if times.terms and p.coefficient(WARPS) == times * warp:
                    return to_expr(p.without(LANES).without(WARPS) + times * to_poly(thread), t)
            case eq.Read(subscripts=subs, view=view) if view and LANES in subs[1:]:
                at = subs.index(LANES, 1)
                if subs[at - 1] is WARPS and view[at] is eq.Const(warp, INT):
                    size = view[at - 1] if at == 1 else to_expr(to_poly(view[at - 1]) * warp)
                    fewer = (*view[: at - 1], size, *view[at + 1 :])
                    return replace(node, subscripts=(*subs[: at - 1], thread, *subs[at + 1 :]), view=fewer)
        return node

    return transform(e, one)


def frame(cx: Context) -> Frame | None:
    """The frame of the kernel, or None where its threads have no number along x."""
    if ("thread", 0) not in cx.threads:
        return None
    rows = ("thread", 1) in cx.threads or ("thread", 2) in cx.threads
    thread = cx.threads["thread", 0]
    # a loop over the rows of warps has another index in place of the warp's: then only its lanes can be told
    hidden = sorted(free_indices(thread) - {*cx.thread_names, *cx.blocks})
    inside = [n for n in cx.thread_names if n in free_indices(thread) and n not in cx.blocks] + hidden
    rows = rows or bool(hidden)
    extent = cx.threads["blockDim", 0]
    block = cx.threads.get(("block", 0))
    local: dict[eq.Expr, eq.Expr] = {}
    if cx.lane is None:
        if len(inside) != 1 or hidden:
            return None
        own: eq.Expr = THREAD
        if thread is not eq.Index(inside[0], INT):
            if block is None:
                return None
            own = operation("add", (operation("mul", (block, extent), INT), THREAD), INT)
        local[eq.Index(inside[0], INT)] = own
        return _checked(cx, Frame(local, None, False, extent, frozenset(inside), rows))
    lane, lanes = eq.Index(cx.lane, INT), eq.Const(cx.warp, INT)
    others = [n for n in inside if n != cx.lane]
    if cx.lane not in inside or len(others) > 1:
        return None
    local[lane] = LANES
    for n in others:
        warp = eq.Index(n, INT)
        whole = operation("add", (operation("mul", (lanes, warp), INT), lane), INT)
        if to_poly(thread) == to_poly(whole) or block is None:
            local[warp] = WARPS
        else:
            warps = to_expr(divided(to_poly(extent), to_poly(lanes))[0])
            local[warp] = operation("add", (operation("mul", (block, warps), INT), WARPS), INT)
    return _checked(cx, Frame(local, lane, True, extent, frozenset(inside), rows, cx.warp))


def _checked(cx: Context, found: Frame) -> Frame | None:
    """The frame, if it gives the thread's own number."""
    own = tidy(substitute(cx.threads["thread", 0], found.local))
    wanted: eq.Expr = THREAD
    if found.split:
        wanted = operation("add", (operation("mul", (eq.Const(found.warp, INT), WARPS), INT), LANES), INT)
        if len(found.local) == 1:
            wanted = LANES
    return found if own is tidy(wanted) else None


def numbers(found: Frame, e: eq.Expr, size: int) -> np.ndarray | None:
    """``e`` by thread of a block of ``size``, if nothing else decides it and it is one for every thread."""
    if not (e.type.is_integer or e.type.kind == "bool"):
        return None
    try:
        e = tidy(substitute(e, found.local))
    except ValueError:
        return None
    threads = np.arange(size)
    known: dict[eq.Expr, np.ndarray] = {THREAD: threads, WARPS: threads // found.warp, LANES: threads % found.warp}
    for node in topological((e,)):
        if node in known:
            continue
        match node:
            case eq.Const(value=bool() | int() as v):
                known[node] = np.full(size, v)
            case eq.Param() if node is found.extent or node.name == "block.x":
                known[node] = np.full(size, size)
            case eq.Param(name="warps.x"):
                known[node] = np.full(size, size // found.warp)
            case eq.Cast(arg=arg, type=t) if arg in known and (t.is_integer or t.kind == "bool"):
                try:
                    known[node] = cast(known[arg], t)
                except Beyond:
                    return None
            case eq.Op(name="select", args=(c, a, b)) if {c, a, b} <= known.keys():
                known[node] = np.where(known[c], known[a], known[b])
            case eq.Op(name=name, args=args, type=t) if all(a in known for a in args):
                try:
                    out = number(name, [known[a] for a in args], t)
                except Beyond:  # ``1 << k`` for a k of as many as threads, a division by zero
                    return None
                if isinstance(out, Unknown) or not isinstance(out, np.ndarray):
                    return None
                known[node] = out
            case _:
                return None
    return known[e]
