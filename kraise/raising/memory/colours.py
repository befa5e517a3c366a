"""Colourings that go round: every second cell of a torus may be updated in place if its sides are even.

``if ((i + j) % 2 == colour) s[i][j] = f(s[(i + 1) % n][j], …)`` reads cells of the other colour, but across a seam of
an odd side, where a cell and its neighbour have one colour. That each side over which a subscript goes round is a
multiple of the number of colours is assumed where the proof needs it, said in the docstring, and checked, since sizes
are static.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraise.analysis.conditions import is_static
from kraise.analysis.dependence import Access
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, topological


def whole_turns(accesses: Iterable[Access]) -> tuple[eq.Expr, ...]:
    """The conditions ``n % colours == 0`` of the sizes round which cells of an array that is stored to are read."""
    accesses = list(accesses)
    out: dict[eq.Expr, None] = {}
    for w in (a for a in accesses if a.write):
        colours = {c for p in w.path for c in _colours(p)}
        if len(colours) != 1:
            continue
        (count,) = colours
        for a in accesses:
            if a.array != w.array or a.write:
                continue
            for node in topological((*a.subscripts, *a.whole)):
                match node:
                    case eq.Op(name="mod" | "tmod", args=(x, n)) if free_indices(x) and _size(n):
                        rest = eq.Op("mod", (n, eq.Const(count, INT)), INT)
                        out[eq.Op("eq", (rest, eq.Const(0, INT)), BOOL)] = None
    return tuple(out)


def _colours(condition: eq.Expr) -> Iterable[int]:
    """The c of ``(i + j) % c == colour``."""
    for node in topological((condition,)):
        match node:
            case eq.Op(name="mod" | "tmod", args=(x, eq.Const(value=int() as c))) if c > 1:
                if free_indices(x) and to_poly(x).is_affine_in(sorted(free_indices(x))):
                    yield c
            case eq.Op(name="and_", args=(x, eq.Const(value=1))) if free_indices(x):
                yield 2


def _size(n: eq.Expr) -> bool:
    poly = to_poly(n)
    return poly.value is None and is_static(poly) and not free_indices(n)


__all__ = ["whole_turns"]
