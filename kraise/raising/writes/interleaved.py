"""Stores to neighbouring cells by one thread, ``y[4 * i] = …; … y[4 * i + 3] = …``, as one store over all cells.

What a vectorized access (``float4``) or an unrolled body spells as k stores is one equation where the values are one
function of the number of the store: its cell is ``k * i + c``, which is the index of one more loop and merges with i
(raising.md, step 2). The side conditions: the stores follow one another in one array, under the same indices and
conditions, at k neighbouring places in steps of k, and none reads what another one has stored. The two indices do
merge: else k stores read better. Likewise stores of m cells each, one behind the other: ``y[t] = …; y[t + m] = …``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kraise.analysis.boxes import Unbounded, box
from kraise.analysis.delinearize import in_rows
from kraise.analysis.poly import Poly, constant, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import children, free_indices, rebuild, substitute, topological
from kraise.raising.run.arithmetic import index_like
from kraise.raising.run.context import Context
from kraise.raising.run.state import ROWS, Raw, RawFold, RawWrite, expressions
from kraise.raising.threads.tiles import Launch, merged_write
from kraise.raising.writes.steps import in_ones

MOST = 16  # stores of a group


def interleaved(cx: Context, raws: Sequence[Raw], used: frozenset[eq.Version], launch: Launch) -> list[Raw]:
    """``raws`` with such stores as one; ``used`` are the versions that something else than these reads or returns."""
    while len(out := _once(cx, raws, used, launch)) < len(raws):  # the rows of a thread's cells, when each is one
        raws = out
    return out


def as_before(raws: Sequence[Raw]) -> list[Raw]:
    """``raws`` in which a store loads its own cell as it was before the stores right before it in a row, which are to
    other cells: ``C[4 * i + k] = a + b * C[4 * i + k]`` for each k."""
    out: list[Raw] = []
    chain: list[RawWrite] = []
    for r in raws:
        if not isinstance(r, RawWrite) or r.accumulate:
            out.append(replace(r, body=tuple(as_before(r.body))) if isinstance(r, RawFold) else r)
            chain = []
            continue
        follows = bool(chain) and r.before is chain[-1].after and r.view == chain[-1].view
        earlier = chain if follows else []
        older, newer = r.before, set[eq.Version]()
        for w in reversed(earlier):
            if not _apart(w, r):
                break
            older = w.before
            newer.add(w.after)
        if newer:
            own = [
                n
                for n in topological((r.value,))
                if isinstance(n, eq.Read) and n.version in newer and (n.subscripts, n.view) == (r.subscripts, r.view)
            ]
            r = replace(r, value=substitute(r.value, {n: replace(n, version=older) for n in own}))
        chain = [*earlier, r]
        out.append(r)
    return out


def _apart(a: RawWrite, b: RawWrite) -> bool:
    """Whether no cell of one store is one of the other's, by what is left of a subscript divided by its steps."""
    if (a.loops, a.view) != (b.loops, b.view):
        return False
    for axis, size in {*_strided(a)} & {*_strided(b)}:
        gap = (to_poly(b.subscripts[axis]) - to_poly(a.subscripts[axis])).value
        if gap is not None and gap % size:
            return True
    return False


def _once(cx: Context, raws: Sequence[Raw], used: frozenset[eq.Version], launch: Launch) -> list[Raw]:
    out: list[Raw] = []
    raws = _loaded(raws)
    at = 0
    while at < len(raws):
        r = raws[at]
        if isinstance(r, RawFold):
            r = replace(r, body=tuple(interleaved(cx, r.body, used, launch)))
        found = None
        if isinstance(r, RawWrite):
            found = group(cx, raws, at, used, launch)
            if found is None and (counted := in_ones(r)) is not r:  # the index of a loop in steps of as many cells
                rest = [in_ones(x) if isinstance(x, RawWrite) else x for x in raws[at + 1 : at + MOST]]
                found = group(cx, [counted, *rest], 0, used, launch)
        out.append(r if found is None else found[0])
        at += 1 if found is None else found[1]
    return out


def _loaded(raws: Sequence[Raw]) -> Sequence[Raw]:
    """A running value that was put in place of a load, as that load, where the next store loads the array that it is
    in: the thread's second element is at no place of its own index."""
    out = list(raws)
    scans: list[RawWrite] = []
    for at, (r, behind) in enumerate(zip(raws, raws[1:], strict=False)):
        if not isinstance(r, RawWrite) or not isinstance(r.value, eq.Scan) or not isinstance(behind, RawWrite):
            continue
        before = scans
        scans = scans if r.accumulate else [*scans, r]
        for made in before:
            if (
                isinstance(behind.value, eq.Read)
                and behind.value.version is made.after
                and _is_same(made.value, r.value)
            ):
                names = {eq.Index(made.value.axis.name, INT): eq.Index(r.value.axis.name, INT)}  # type: ignore[union-attr]
                subs = tuple(substitute(s, names) for s in made.subscripts)
                out[at] = replace(r, value=eq.Read(made.after, subs, r.value.type, made.view))
    return out


def _is_same(made: eq.Expr, value: eq.Scan) -> bool:
    """Whether two running values differ by the name of their index at most, or the second one ends before the first: up
    to there they are the same."""
    assert isinstance(made, eq.Scan)
    rest = to_poly(made.axis.hi) - to_poly(value.axis.hi)
    if not made.reverse and rest.terms.keys() == {()} and rest.terms[()] > 0:
        made = replace(made, axis=replace(made.axis, hi=value.axis.hi))
    old, new = (eq.Index(s.axis.name, INT) for s in (made, value))
    return new.name not in free_indices(made) - {old.name} and substitute(made, {old: new}) is value


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


def group(
    cx: Context, raws: Sequence[Raw], at: int, used: frozenset[eq.Version], launch: Launch
) -> tuple[RawWrite, int] | None:
    """The store that a group from ``at`` on is, and how many it is made of."""
    first = raws[at]
    assert isinstance(first, RawWrite)
    raws = [*raws[:at], _in_place(first, raws[at + 1 :]), *raws[at + 1 :]]
    found = None
    for axis, size in _strided(first):
        found = found or (_joined(cx, raws[at : at + size], axis, 1, used, launch) if size <= MOST else None)
        if found is not None:
            break
    if found is None:
        axis, apart = _chunk(first)
        size = _in_chunks(raws[at : at + MOST], axis, apart) if apart else 0
        found = _joined(cx, raws[at : at + size], axis, apart, used, launch) if size > 1 else None
    return None if found is None else (found, size)


def sizes(raws: Sequence[RawWrite], at: int) -> tuple[int, ...]:
    """How many stores a group from ``at`` on may be made of."""
    strided = [size for _, size in _strided(raws[at])]
    axis, apart = _chunk(raws[at])
    return *strided, _in_chunks(raws[at : at + MOST], axis, apart) if apart else 0


def _in_place(first: RawWrite, behind: Sequence[Raw]) -> RawWrite:
    """``x[4 * i] *= a`` as the plain store that the next ones are, which read the cells as they were before it."""
    other = behind[0] if behind else None
    if first.view or first.accumulate not in ("add", "mul", "min", "max") or not isinstance(other, RawWrite):
        return first
    if other.accumulate or other.before is not first.after or first.before not in versions_read([other]):
        return first
    loads = [n for n in topological((other.value,)) if isinstance(n, eq.Read) and n.version is first.before]
    held = loads[0] if loads else None
    if held is None or held.view or held.type != first.value.type:
        return first
    cell = replace(held, subscripts=first.subscripts)
    value = eq.Op(first.accumulate, (cell, first.value), held.type)
    return replace(first, value=value, accumulate="")


def _joined(
    cx: Context, raws: Sequence[Raw], axis: int, step: int, used: frozenset[eq.Version], launch: Launch
) -> RawWrite | None:
    """The stores as one, if each is ``step`` cells behind the one before it."""
    first, size = raws[0], len(raws)
    assert isinstance(first, RawWrite)
    group = [r for r in raws if isinstance(r, RawWrite) and _beside(first, r, axis)]
    inner = {r.after for r in group[:-1]}
    chained = all(b.before is a.after for a, b in zip(group, group[1:], strict=False))
    if len(group) != size or not chained or inner & used:
        return None
    bound = {n.name for n in topological([r.value for r in group]) if isinstance(n, eq.Index)}
    element = cx.index("element", (*first.loops, *bound))
    places = [to_poly(r.subscripts[axis]) for r in group]
    starts = [to_poly(_offset(p)) for p in places]
    steps = {(b - a).value for a, b in zip(starts, starts[1:], strict=False)}
    if steps != {step} or len({to_expr(p - s) for p, s in zip(places, starts, strict=True)}) != 1:
        return None
    value = _as_one([r.value for r in group], element, {})
    path = [_as_one(column, element, {}) for column in zip(*(r.path for r in group), strict=True)]
    if value is None or None in path or (isinstance(first.value, eq.Const) and value is not first.value):
        return None  # numbers of their own are no function of their places
    place = to_expr(places[0] + to_poly(element) * step)
    subs = (*first.subscripts[:axis], place, *first.subscripts[axis + 1 :])
    bounds = (
        eq.Op("ge", (element, eq.Const(0, INT)), BOOL),
        eq.Op("lt", (element, eq.Const(size, INT)), BOOL),
    )
    one = replace(first, after=group[-1].after, subscripts=subs, value=value)
    one = replace(one, loops=(*first.loops, element.name), path=(*(c for c in path if c is not None), *bounds))
    if len(merged_write(one, launch).loops) > len(merged_write(first, launch).loops):
        return None
    return _rowed(one, launch) if path == list(first.path) else one  # a guard on the cell cuts a row off


def _rowed(r: RawWrite, launch: Launch) -> RawWrite:
    """A store to a flat array as one to its rows, where the cells of all threads of a block are a whole row."""
    if len(r.subscripts) != 1 or r.view or isinstance(merged_write(r, launch).subscripts[0], eq.Index):
        return r
    place = to_poly(r.subscripts[0])
    for width in sorted({int(c) for m, c in place.terms.items() if m and c > 1}):
        found = in_rows(place, (constant(width),), r.path)
        if found is None or len(found.subscripts) != 2:
            continue
        rows = replace(r, subscripts=tuple(map(to_expr, found.subscripts)), view=(ROWS, eq.Const(width, INT)))
        merged = merged_write(rows, launch)
        try:
            axes = {a.name: a for a in box(merged.loops, merged.path, ()).axes}
        except Unbounded:
            return r
        row, cell = merged.subscripts
        axis = axes.get(cell.name) if isinstance(cell, eq.Index) and isinstance(row, eq.Index) else None
        if axis is not None and (to_poly(axis.lo).value, to_poly(axis.hi).value) == (0, width):
            return rows
    return r


def _strided(r: RawWrite) -> list[tuple[int, int]]:
    """The subscripts that move in steps of a number with an index, and the numbers."""
    out: list[tuple[int, int]] = []
    for axis, s in enumerate(r.subscripts):
        if index_like(s):
            p = to_poly(s)
            steps = [abs(c) for m, c in p.terms.items() if m]
            if steps and min(steps) > 1 and all(c % min(steps) == 0 for c in steps):
                out.append((axis, int(min(steps))))
    return out


def _chunk(r: RawWrite) -> tuple[int, int]:
    """The subscript in which an index counts cells, and how many these are; 0 if there is none."""
    for axis, s in enumerate(r.subscripts):
        p = to_poly(s) if index_like(s) else None
        plain = [m[0] for m, c in p.terms.items() if len(m) == 1 and c == 1] if p is not None else []
        if not plain:
            continue
        try:
            axes = {a.name: a for a in box(r.loops, r.path, ()).axes}
        except Unbounded:
            return 0, 0
        for index in plain:
            a = axes.get(index.name) if isinstance(index, eq.Index) else None
            if a is not None and a.step == 1 and to_poly(a.lo).value == 0 and (to_poly(a.hi).value or 0) > 1:
                return axis, int(to_poly(a.hi).value or 0)
    return 0, 0


def _in_chunks(raws: Sequence[Raw], axis: int, apart: int) -> int:
    """How many stores from the first on are ``apart`` cells behind one another."""
    first = raws[0]
    assert isinstance(first, RawWrite)
    start = to_poly(first.subscripts[axis])
    for n, r in enumerate(raws):
        beside = isinstance(r, RawWrite) and _beside(first, r, axis)
        if not beside or (to_poly(r.subscripts[axis]) - start).value != n * apart:  # type: ignore[union-attr]
            return n
    return len(raws)


def _beside(a: RawWrite, b: RawWrite, axis: int) -> bool:
    alike = (a.loops, len(a.path), a.accumulate, a.view) == (b.loops, len(b.path), b.accumulate, b.view)
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


__all__ = ["as_before", "interleaved", "versions_read"]
