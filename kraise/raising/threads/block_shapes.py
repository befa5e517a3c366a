"""Blocks of several axes whose threads are numbered through: ``12 * block + 4 * y + x`` is of blocks of 4 by 3.

Twelve threads along x, as ``12 * block + x`` would have, would meet those of the next y. Where the numbers are none of
digits (``10 * block + 4 * y + x``), nothing is known of the block. ``8 * block + x`` and ``8 * block + x + 4`` are the
two elements of each of four threads: those of eight would visit elements twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from kraise.analysis.boxes import Unbounded, box
from kraise.analysis.dependence import Access
from kraise.analysis.poly import Poly, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import Unmovable, free_indices, substitute
from kraise.raising.run.arithmetic import tidy
from kraise.raising.run.context import Context
from kraise.raising.threads.counted import counted

_ROUNDS = 64


def block_shape(cx: Context, nodes: Iterable[eq.Expr], axis: int) -> dict[int, int] | None:
    """By axis, the negative of how many threads a block has where the block of ``axis`` is numbered through with its
    threads; empty where they are not told apart by that. None where nothing speaks of threads of another axis."""
    block, block_dim = cx.threads["block", axis], to_poly(cx.threads["blockDim", axis])
    others = {t: a for (kind, a), t in cx.threads.items() if kind == "thread" and isinstance(t, eq.Index) and a != axis}
    found: dict[int, int] | None = None
    for n in nodes if others else ():
        if not isinstance(n, eq.Op) or not n.type.is_integer:
            continue
        poly = to_poly(n)
        own = poly.coefficient(block)
        whole = (own + block_dim).value
        if whole is None or own.value is not None:
            continue
        rows = sorted((c, a) for t, a in others.items() if 1 < (c := poly.coefficient(t).value or 0) < whole)
        by = [*(c for c, _ in rows), whole]
        if rows and all(more % c == 0 for c, more in pairwise(by)):
            return {axis: -by[0]} | {a: -(more // c) for (c, a), more in zip(rows, by[1:], strict=True)}
        found = {} if rows else found
    return found


def share_of(cx: Context, nodes: Iterable[eq.Expr], stored: Iterable[eq.Expr], axis: int, size: int) -> int:
    """How many threads a block has if they share its ``size`` elements out, several for each at even distances; 0 if
    each has one. Neighbours that are loaded tell nothing, where no atomic counts: the places ``stored`` to do, or
    those that are loaded where they are just the elements and none is stored to (threads that add up some each)."""
    if size < 2:
        return 0
    nodes = list(nodes)
    if counted(cx.module, cx.function, cx.calls):
        return _shared_out(*_offsets(cx, nodes, axis, size), size)
    offsets, turns = _offsets(cx, stored, axis, size)
    if not offsets and not turns and cx.cooperative:
        offsets, _ = _offsets(cx, nodes, axis, size)
        by = _shared_out(offsets, set(), size)
        return by if by and len(offsets) * by == size else 0
    return _shared_out(offsets, turns, size)


def _offsets(cx: Context, nodes: Iterable[eq.Expr], axis: int, size: int) -> tuple[set[int], set[int]]:
    """How far from ``size * block + thread`` places are, in elements and in blocks, as in ``x + blockDim.x``."""
    block, threads = cx.threads["block", axis], cx.threads["blockDim", axis]
    blocks = cx.threads.get(("gridDim", axis))
    own = free_indices(cx.threads["thread", axis]) - free_indices(block)  # one, or a warp and a lane
    offsets, turns = set[int](), set[int]()
    for n in nodes:
        poly = to_poly(n) if isinstance(n, eq.Op) and n.type.is_integer else to_poly(block)
        poly = _of_rows(poly if blocks is None else poly.without(blocks), own)  # without a grid-stride loop's rounds
        left = poly.indices() - free_indices(block)
        if (poly.coefficient(block) + to_poly(threads)).value == size and (len(left) == 1 or left == own):
            turn = poly.terms.get((threads,), 0)
            turns.add(turn)
            offsets |= set() if turn else {poly.offset}
    return offsets, turns


def _of_rows(poly: Poly, own: frozenset[str]) -> Poly:
    """The number of the row where a flat place speaks of a thread's row: ``(8 * block + thread) * n + j``."""
    for name in own if len(own) == 1 else ():
        row = poly.coefficient(eq.Index(name, INT))
        match list(row.terms.items()):
            case [(size, 1)] if size:
                out = Poly()
                for term, c in poly.terms.items():
                    rest = Counter(term)
                    rest.subtract(size)
                    if min(rest.values()) >= 0:
                        out = out + Poly({tuple(rest.elements()): c})
                return out
    return poly


def _shared_out(offsets: set[int], turns: set[int], size: int) -> int:
    """How many threads share a block's elements out; 0 if they have one each."""
    if len(turns) > 1 and turns == {*range(len(turns))} and size % len(turns) == 0:
        return size // len(turns)
    first = min(offsets, default=0)
    for share in sorted(offsets):
        by = share - first
        if by > 1 and size % by == 0 and offsets >= {first + at for at in range(0, size, by)}:
            return by
    return 0


def places(cx: Context, accesses: Iterable[Access]) -> list[eq.Expr]:
    """The subscripts of what is stored to the caller's arrays, in each round of short loops: ``base + 32 * k`` of four
    rounds is four places."""
    out: list[eq.Expr] = []
    for a in accesses:
        if a.write and a.array not in cx.made:
            out += [e for s in a.subscripts for e in (s, *_in_each_round(cx, s, a.path))]
    return out


def _in_each_round(cx: Context, e: eq.Expr, path: tuple[eq.Expr, ...]) -> list[eq.Expr]:
    out = [e]
    for index in sorted(free_indices(e) - cx.axes.keys() - {*cx.blocks}):
        try:
            (axis,) = box((index,), path).axes
        except Unbounded:
            return []
        ends = to_poly(axis.lo).value, to_poly(axis.hi).value
        if ends[0] is None or ends[1] is None:
            return []
        rounds = range(ends[0], ends[1], axis.step)
        if len(rounds) * len(out) > _ROUNDS:
            return []
        try:
            out = [tidy(substitute(x, {eq.Index(index, INT): eq.Const(at, INT)})) for x in out for at in rounds]
        except Unmovable:  # a running value of the rounds
            return []
    return out


__all__ = ["block_shape", "places", "share_of"]
