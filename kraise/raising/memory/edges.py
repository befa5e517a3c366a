"""The halo of a tile: what a thread at the edge loads under a guard of its own continues its neighbours' loads.

``s[0] = i > 0 ? x[i - 1] : 0`` by thread 0, beside ``s[t + 1] = i < n ? x[i] : 0`` by all, fills the padded array
``x[i - 1]``, whose guard holds at every cell: that of the edge, said of all threads.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from kraise.analysis.conditions import classify, conjunction, negate
from kraise.analysis.dependence import implied
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, substitute, topological

Path = tuple[eq.Expr, ...]


def at_edges(path: Path, conditions: Iterable[eq.Expr], p: Path, q: Path, same: bool) -> Path | None:
    """One guard that is ``p`` where the ``conditions`` (those of an edge, ``t == 0``) hold, and ``q`` elsewhere; None
    if none is found. ``same``: what stands for the cells outside is the same on both sides, or only ``p`` has some."""
    edge = tuple(conditions)
    if not same:
        return None
    if q and _equal((*path, *edge), p, q):
        return q
    if p and _equal((*path, negate(conjunction(edge))), p, q):  # type: ignore[arg-type]
        return p
    if len(edge) != 1:
        return None
    moved = tuple(_everywhere(path, edge[0], q, d) for d in p)
    if None in moved or not all(implied((*path, *edge, *p), c) for c in q):
        return None
    return tuple(dict.fromkeys((*q, *(d for d in moved if d is not None and not implied(q, d)))))


def same_place(path: Path, a: eq.Read, b: eq.Read) -> bool:
    """Whether two loads of one array load the same cell where ``path`` holds.

    Of rows ``y * n + x`` with n open, the difference of two places is ``n * p + q``: both are zero where they are the
    same row and the same column. One row further on and a row less is the same place.
    """
    if a.view == b.view and all(
        s is t or implied(path, eq.Op("eq", (s, t), BOOL)) for s, t in zip(a.subscripts, b.subscripts, strict=True)
    ):
        return True
    one, two = flat(a), flat(b)
    if len(one) != len(two) or not (a.view or b.view or len(one) == 1):
        return False
    parts = (p for s, t in zip(one, two, strict=True) for p in _by_sizes(s - t))
    return all(p == Poly({}) or implied(path, eq.Op("eq", (to_expr(p), eq.Const(0, INT)), BOOL)) for p in parts)


def for_rows(path: Path, value: eq.Expr) -> eq.Expr:
    """A value whose loads by rows are flat ones where they would leave their row where ``path`` holds: ``x[b, t - 1]``
    by the first thread of a block is the last cell of the row before."""
    loads = [n for n in topological((value,)) if isinstance(n, eq.Read) and n.view]
    leaving = [n for n in loads if not all(map(partial(_within, path), n.subscripts[1:], n.view[1:]))]
    whole: dict[eq.Expr, eq.Expr] = {n: replace(n, subscripts=tuple(map(to_expr, flat(n))), view=()) for n in leaving}
    return substitute(value, whole) if whole else value


def _within(path: Path, place: eq.Expr, extent: eq.Expr) -> bool:
    ends = (to_poly(place), to_poly(extent) - to_poly(place) - 1)
    return all(implied(path, _nonnegative(end)) for end in ends)


def _by_sizes(difference: Poly) -> list[Poly]:
    """What each product of sizes is multiplied by."""
    found: dict[tuple[eq.Expr, ...], dict[tuple[eq.Expr, ...], int]] = {}
    for term, factor in difference.terms.items():
        sizes = tuple(a for a in term if not free_indices(a))
        rest = tuple(a for a in term if free_indices(a))
        found.setdefault(sizes, {})[rest] = factor
    return [Poly(terms) for terms in found.values()]


def flat(load: eq.Read) -> tuple[Poly, ...]:
    """The place of a load, without the rows in which its array is seen."""
    if not load.view:
        return tuple(map(to_poly, load.subscripts))
    place = to_poly(load.subscripts[0])
    for sub, radix in zip(load.subscripts[1:], load.view[1:], strict=True):
        place = place * to_poly(radix) + to_poly(sub)
    return (place,)


def _equal(path: Path, p: Path, q: Path) -> bool:
    return all(implied((*path, *p), c) for c in q) and all(implied((*path, *q), c) for c in p)


def _everywhere(path: Path, edge: eq.Expr, q: Path, guard: eq.Expr) -> eq.Expr | None:
    """A condition that is ``guard`` at the edge and holds elsewhere: the thread's distance from the edge is added to
    it."""
    inside = (*path, negate(edge), *q)
    if guard in q or implied(inside, guard):
        return guard
    at, fact = classify(edge), classify(guard)
    if at is None or fact is None or at.kind != "eq" or fact.kind != "ge":
        return None
    for poly in (fact.poly + at.poly, fact.poly - at.poly):
        found = _nonnegative(poly)
        if implied(inside, found):
            return found
    return None


def _nonnegative(poly: Poly) -> eq.Expr:
    return eq.Op("ge", (to_expr(poly), eq.Const(0, INT)), BOOL)


__all__ = ["at_edges", "for_rows", "same_place"]
