"""Flat arrays of which some subscripts are in rows and others only could be.

``cp[s]`` beside ``cp[(i - 1) * m + s]`` is element (0, s), and ``x[(n - 1) * m + s]`` is element (n - 1, s): where a
proof needs all accesses of an array in one form, the run is repeated with the rows that the others showed. Rows are
rows of planes, too, where others show planes: ``x[j * n + i]`` beside ``x[(k * m + j) * n + i]`` is element (0, j, i).
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from kraise.analysis.dependence import Access
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
