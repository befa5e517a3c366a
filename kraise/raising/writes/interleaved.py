"""Stores to neighbouring cells by one thread, ``y[4 * i] = …; … y[4 * i + 3] = …``, as one store over all cells.

What a vectorized access (``float4``) or an unrolled body spells as k stores is one equation where the values are one
function of the number of the store: its cell is ``k * i + c``, which is the index of one more loop and merges with i
(raising.md, step 2). The side conditions: the stores follow one another in one array, under the same indices and
conditions, at k neighbouring places in steps of k, and none reads what another one has stored. The two indices do
merge: else k stores read better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import children, rebuild, topological
from kraise.raising.run.arithmetic import index_like
from kraise.raising.run.context import Context
from kraise.raising.run.state import Raw, RawFold, RawWrite, expressions
from kraise.raising.threads.tiles import Launch, merged_write

MOST = 16  # stores of a group


def interleaved(cx: Context, raws: Sequence[Raw], used: frozenset[eq.Version], launch: Launch) -> list[Raw]:
    """``raws`` with such stores as one; ``used`` are the versions that something else than these reads or returns."""
    out: list[Raw] = []
    at = 0
    while at < len(raws):
        r = raws[at]
        if isinstance(r, RawFold):
            r = replace(r, body=tuple(interleaved(cx, r.body, used, launch)))
        found = _group(cx, raws, at, used, launch) if isinstance(r, RawWrite) else None
        out.append(r if found is None else found[0])
        at += 1 if found is None else found[1]
    return out


def versions_read(raws: Sequence[Raw]) -> frozenset[eq.Version]:
    """The versions of arrays that the values and conditions of ``raws`` read, within folds too."""
    found: set[eq.Version] = set()
    for r in raws:
        inner = r.body if isinstance(r, RawFold) else ()
        found |= versions_read(inner)
        found |= {n.version for n in topological(expressions(r)) if isinstance(n, eq.Read)}
        if isinstance(r, RawFold):
            found |= {v for a in r.fold.arrays for v in (a.outside, a.exit)}
    return frozenset(found)


def _group(
    cx: Context, raws: Sequence[Raw], at: int, used: frozenset[eq.Version], launch: Launch
) -> tuple[RawWrite, int] | None:
    """The store that a group from ``at`` on is, and how many it is made of."""
    first = raws[at]
    assert isinstance(first, RawWrite)
    axis, size = _strided(first)
    if not 2 <= size <= MOST or at + size > len(raws):
        return None
    group = [r for r in raws[at : at + size] if isinstance(r, RawWrite) and _beside(first, r, axis)]
    inner = {r.after for r in group[:-1]}
    chained = all(b.before is a.after for a, b in zip(group, group[1:], strict=False))
    if len(group) != size or not chained or inner & used:
        return None
    bound = {n.name for n in topological([r.value for r in group]) if isinstance(n, eq.Index)}
    element = cx.index("element", (*first.loops, *bound))
    places = [to_poly(r.subscripts[axis]) for r in group]
    starts = [to_poly(_offset(p)) for p in places]
    steps = {(b - a).value for a, b in zip(starts, starts[1:], strict=False)}
    if steps != {1} or len({to_expr(p - s) for p, s in zip(places, starts, strict=True)}) != 1:
        return None
    value = _as_one([r.value for r in group], element, {})
    if value is None:
        return None
    place = to_expr(places[0] + to_poly(element))
    subs = (*first.subscripts[:axis], place, *first.subscripts[axis + 1 :])
    bounds = (
        eq.Op("ge", (element, eq.Const(0, INT)), BOOL),
        eq.Op("lt", (element, eq.Const(size, INT)), BOOL),
    )
    one = replace(first, after=group[-1].after, subscripts=subs, value=value)
    one = replace(one, loops=(*first.loops, element.name), path=(*first.path, *bounds))
    return (one, size) if len(merged_write(one, launch).loops) <= len(first.loops) else None


def _strided(r: RawWrite) -> tuple[int, int]:
    """The subscript that moves in steps of a number with an index, and the number; 0 if there is none."""
    for axis, s in enumerate(r.subscripts):
        if index_like(s):
            p = to_poly(s)
            moving = [c for m, c in p.terms.items() if m]
            if moving and all(c % moving[0] == 0 for c in moving) and abs(moving[0]) > 1:
                return axis, min(map(abs, moving))
    return 0, 0


def _beside(a: RawWrite, b: RawWrite, axis: int) -> bool:
    alike = (a.loops, a.path, a.accumulate, a.view) == (b.loops, b.path, b.accumulate, b.view)
    others = a.subscripts[:axis] + a.subscripts[axis + 1 :] == b.subscripts[:axis] + b.subscripts[axis + 1 :]
    return alike and others and len(a.subscripts) == len(b.subscripts) and index_like(b.subscripts[axis])


def _offset(p: Poly) -> eq.Expr:
    return eq.Const(p.offset, INT)


def _as_one(values: Sequence[eq.Expr], element: eq.Index, done: dict[tuple[eq.Expr, ...], eq.Expr]) -> eq.Expr | None:
    """The function of ``element`` that gives each of the values at its number; None if there is no simple one."""
    first, key = values[0], tuple(values)
    if all(v is first for v in values):
        return first
    if key in done:
        return done[key]
    if all(map(index_like, values)):
        polys = [to_poly(v) for v in values]
        step = (polys[1] - polys[0]).value
        if step is None or any((p - polys[0]).value != step * n for n, p in enumerate(polys)):
            return None
        return to_expr(polys[0] + to_poly(element) * step)
    parts = [children(v) for v in values]
    if not parts[0] or len({(type(v), len(c)) for v, c in zip(values, parts, strict=True)}) != 1:
        return None
    if any(rebuild(v, parts[0]) is not first for v in values):
        return None
    new = [_as_one(column, element, done) for column in zip(*parts, strict=True)]
    if any(n is None for n in new):
        return None
    done[key] = rebuild(first, tuple(n for n in new if n is not None))
    return done[key]


__all__ = ["interleaved", "versions_read"]
