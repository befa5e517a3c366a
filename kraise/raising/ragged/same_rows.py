"""Flat arrays of which some subscripts are in rows and others only could be.

``cp[s]`` beside ``cp[(i - 1) * m + s]`` is element (0, s), and ``x[(n - 1) * m + s]`` is element (n - 1, s): where a
proof needs all accesses of an array in one form, the run is repeated with the rows that the others showed. Rows are
rows of planes, too, where others show planes: ``x[j * n + i]`` beside ``x[(k * m + j) * n + i]`` is element (0, j, i).
Where no access is in rows, the guards and the columns tell which there may be; nothing rests on it, for that the
columns are in their rows is proved or demanded after that.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from kraise.analysis.conditions import classify, is_static
from kraise.analysis.delinearize import provable
from kraise.analysis.dependence import Access
from kraise.analysis.division import parted
from kraise.analysis.poly import Poly, to_poly
from kraise.ir import equations as eq
from kraise.raising.run.state import ROWS

Rows = dict[str, tuple[Poly, ...]]


def others_rows(accesses: Iterable[Access], made: Container[str]) -> Rows:
    """The radices of the flat arrays that have accesses in rows, all in the same or in rows of the others' planes, and
    others that are not; ``made`` are the kernel's own arrays."""
    views: dict[str, set[tuple[eq.Expr, ...]]] = {}
    for a in accesses:
        in_rows = bool(a.view) and a.view[0] is ROWS
        if a.array not in made:
            views.setdefault(a.array, set()).add(a.view if in_rows else ())
    out: Rows = {}
    for array, found in views.items():
        most = max(found, key=len)
        if len(found) > 1 and all(v[1:] == most[len(most) - len(v) + 1 :] for v in found if v):
            out[array] = tuple(to_poly(r) for r in most[1:])
    return out


def guarded_rows(accesses: Iterable[Access], made: Container[str]) -> Rows:
    """The rows of flat arrays of which some cells are proved to be in a row of a size, ``a[i]`` for i < w, beside
    others in rows further on, ``a[(h - 1) * w + i]``, or at a column that a size says, ``a[j * w + w - 2]``."""
    by_array: dict[str, list[Access]] = {}
    for a in accesses:
        if a.array not in made:
            by_array.setdefault(a.array, []).append(a)
    out: Rows = {}
    for array, group in by_array.items():
        flat = [a.whole if a.view else a.subscripts for a in group]
        if any(len(f) != 1 for f in flat):
            continue
        places = [to_poly(f[0]) for f in flat]
        for size in _sizes(group, places):
            cells = [parted(p, size) for p in places]
            inside = [_inside(a.path, column, size) for a, (_, column) in zip(group, cells, strict=True)]
            said = [sure or is_static(column) for sure, (_, column) in zip(inside, cells, strict=True)]
            if any(inside) and all(said) and len({row for row, _ in cells}) > 1:
                out[array] = (size,)
                break
    return out


def _sizes(group: list[Access], places: list[Poly]) -> Iterable[Poly]:
    """What rows may be as long as: the sizes that a guard keeps an index of the place below, and parameters in it."""
    out: dict[Poly, None] = {}
    for a, p in zip(group, places, strict=True):
        for fact in filter(None, map(classify, a.path)):
            names = fact.poly.indices()
            if fact.kind == "ge" and len(names) == 1 and names <= p.indices():
                size = Poly({m: c for m, c in fact.poly.terms.items() if not Poly({m: c}).indices()}) + 1
                if size.value is None and is_static(size):
                    out[size] = None
    params = {x for p in places for x in p.atoms() if isinstance(x, eq.Param)}
    return (*out, *(to_poly(x) for x in sorted(params, key=lambda x: x.name) if to_poly(x) not in out))


def _inside(path: tuple[eq.Expr, ...], column: Poly, size: Poly) -> bool:
    return not column.terms or (provable(path, column) and provable(path, size - 1 - column))
