"""Additions to neighbouring places, each in a line of its own, as one addition of rows.

``grad[e, 0] += w * dx; grad[e, 1] += w * dy`` is ``grad.at[e].add(rows)``: a scatter of rows takes as long as one of
single cells. The side conditions: the additions follow one another, of one kind and over the same indices, to places
that differ by a number at one subscript, and nothing looks at the array in between. Additions to other rows may come in
between: the order of sums is free.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.emit.loads.picked import NAME
from kraise.emit.stores import alike
from kraise.emit.text.linear import linear
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import free_indices, topological

Key = tuple[object, ...]


def in_order(stores: list[eq.Write]) -> list[eq.Write]:
    """The additions with those to one row after one another."""
    first = stores[0]
    made = {s.after for s in stores}
    if any(s.accumulate != "add" or _reads(s, made) for s in stores):
        return stores
    groups: dict[Key, list[eq.Write]] = {}
    for s in stores:
        groups.setdefault((s.axes, s.view, s.where, *map(_row, s.subscripts)), []).append(s)
    out: list[eq.Write] = []
    before = first.before
    for s, place in zip((s for g in groups.values() for s in g), stores, strict=True):
        out.append(replace(s, before=before, after=place.after))
        before = place.after
    return out


def _row(subscript: eq.Expr) -> eq.Expr | None:
    return None if isinstance(subscript, eq.Const) else subscript


def _reads(s: eq.Write, made: set[eq.Version]) -> bool:
    roots = (*s.subscripts, s.value) if s.where is None else (*s.subscripts, s.value, s.where)
    return any(isinstance(n, eq.Read) and n.version in made for n in topological(roots))


def rows(stores: list[eq.Write]) -> eq.Write | None:
    """Additions as one of rows, or None."""
    first, last = stores[0], stores[-1]
    made = {s.after for s in stores}
    for s in stores:
        same = (s.accumulate, s.axes, s.view, s.where, s.safe, s.value.type) == (
            *(first.accumulate, first.axes, first.view, first.where, first.safe, first.value.type),
        )
        if not same or s.segments or s.safe or not s.axes or _reads(s, made):
            return None
    differing = [k for k, own in enumerate(zip(*(s.subscripts for s in stores), strict=True)) if len(set(own)) > 1]
    if len(differing) != 1 or len(first.subscripts) < 2:
        return None
    (axis,) = differing
    places = [linear(s.subscripts[axis]) for s in stores]
    order = sorted(range(len(stores)), key=lambda k: places[k].constant)
    start = places[order[0]].constant
    if any(p.terms or p.constant != start + n for n, p in enumerate(places[k] for k in order)):
        return None
    values = tuple(stores[k].value for k in order)
    wide = eq.Axis(alike.BESIDE.name, eq.Const(0, INT), eq.Const(len(stores), INT))
    at = alike.BESIDE if not start else eq.Op("add", (alike.BESIDE, eq.Const(start, INT)), INT)
    subscripts = (*first.subscripts[:axis], at, *first.subscripts[axis + 1 :])
    value = alike.one_of(last.axes, values) or eq.Op(NAME, (alike.BESIDE, *values), first.value.type)
    return replace(last, before=first.before, axes=(*last.axes, wide), subscripts=subscripts, value=value)


def stored(stores: list[eq.Write]) -> list[eq.Write]:
    """Stores of which some add to what is there, all as plain stores."""
    found: dict[eq.Version, eq.Read] = {}
    for n in topological(tuple(s.value for s in stores)):
        if isinstance(n, eq.Read) and n.version.array == stores[0].before.array:
            found[n.version] = n

    def plain(s: eq.Write) -> eq.Write:
        places = frozenset[str]().union(*map(free_indices, s.subscripts))
        if not all(a.name in places for a in s.axes):
            return s  # several values for one place
        if s.accumulate != "add" or s.where is not None or s.safe or s.segments or not found:
            return s
        old = eq.Read(s.before, s.subscripts, next(iter(found.values())).type, s.view)
        if old.type != s.value.type:
            return s
        return replace(s, accumulate="", value=eq.Op("add", (s.value, old), s.value.type))

    return [plain(s) for s in stores]


__all__ = ["in_order", "rows", "stored"]
