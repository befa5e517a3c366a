"""Cells at both ends of an array that threads store: ``u[i]`` and ``u[n - d + i]``, or ``u[n - 1 - i]``, for i < d.

Where the ends are too wide they overlap, and the kernel has a race: that they do not is a condition on sizes, which the
emitted function checks. The side conditions: along some axis one access begins at the first cell and the other ends at
the last one of a size that neither's width depends on.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraise.analysis.boxes import largest
from kraise.analysis.conditions import is_static
from kraise.analysis.delinearize import provable
from kraise.analysis.dependence import Access
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL
from kraise.ir.walk import topological


def both_ends(accesses: Iterable[Access]) -> tuple[eq.Expr, ...]:
    """The conditions under which the cells at the two ends of arrays are not the same ones; () if there are none."""
    out: dict[eq.Expr, None] = {}
    accesses = list(accesses)
    spans: dict[int, list[_Span]] = {}
    for n, w in enumerate(accesses):
        for m, a in enumerate(accesses):
            if not w.write or a is w or a.array != w.array or a.view != w.view:
                continue
            if len(a.subscripts) == len(w.subscripts):
                for at in (n, m):
                    spans[at] = spans.get(at) or [_span(s, accesses[at]) for s in accesses[at].subscripts]
                both = _apart(w, a, spans[n], spans[m]), _apart(a, w, spans[m], spans[n])
                out |= dict.fromkeys(c for c in both if c is not None)
    return tuple(out)


_Span = tuple[Poly | None, Poly | None]


def _span(subscript: eq.Expr, access: Access) -> _Span:
    """The largest value of what a subscript falls short of 0 by, and one past its own largest value."""
    place = to_poly(subscript)
    top = largest(place, access.path)
    return largest(-place, access.path), top + 1 if top is not None and is_static(top) else None


def _apart(first: Access, last: Access, firsts: list[_Span], lasts: list[_Span]) -> eq.Expr | None:
    """That the cells of ``first``, at the beginning, end before those of ``last``, at the end, begin; along the axis
    where that is a matter of sizes."""
    for at, (one, other) in enumerate(zip(first.subscripts, last.subscripts, strict=True)):
        (low, width), (begin, end) = firsts[at], lasts[at]
        if one is other or low is None or low.terms or width is None:
            continue
        if begin is None or end is None or not is_static(begin):
            continue
        size = _only_size(end)
        if size is None or size in topological(tuple(map(to_expr, (width, end + begin)))):
            continue  # (a half of the size, w / 2 + 1, is no end: the two meet at every size)
        if not provable((*first.path, *last.path), -begin - width):
            return eq.Op("le", (to_expr(width), to_expr(-begin)), BOOL)
    return None


def are_ends(width: eq.Expr, begin: eq.Expr) -> bool:
    """Whether a condition ``width <= begin`` is one of these: the second is a size less some cells."""
    size = [m for m, c in to_poly(begin).terms.items() if c == 1 and len(m) == 1 and m[0] not in to_poly(width).atoms()]
    less = [c for m, c in to_poly(begin).terms.items() if c < 0 and m]
    return len(size) == 1 and len(less) > 0


def _only_size(end: Poly) -> eq.Expr | None:
    """The size that a number of cells is."""
    atoms = list(end.atoms())
    return atoms[0] if len(atoms) == 1 and end == to_poly(atoms[0]) else None


__all__ = ["are_ends", "both_ends"]
