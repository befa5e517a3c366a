"""Columns behind the one of a round: ``a[i, j] -= …  for 1 <= j, where j > k`` is over all columns under its mask.

That j is at least one follows from the mask. A slice of columns is no contiguous part of an array: it is copied out,
multiplied and copied in. (Measured on Gram and Schmidt's method: half of the time without. Rows behind that of a round
stay a slice, which is updated in place.) The side conditions: the index is a subscript of its own, behind the first
one, wherever it stands, so that column 0 is one of the array.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.dependence import implied
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import axes_of, topological


def whole_columns(
    axes: tuple[eq.Axis, ...], subscripts: tuple[eq.Expr, ...], values: tuple[eq.Expr, ...], known: tuple[eq.Expr, ...]
) -> tuple[eq.Axis, ...]:
    """``axes`` with such columns from the first one on; ``known`` are the masks and what bounds the indices of loops
    around, ``values`` what is computed over the axes."""
    return tuple(_from_first(a, subscripts, values, known) for a in axes)


def _from_first(
    a: eq.Axis, subscripts: tuple[eq.Expr, ...], values: tuple[eq.Expr, ...], known: tuple[eq.Expr, ...]
) -> eq.Axis:
    index, lo = eq.Index(a.name, INT), to_poly(a.lo).value
    if lo is None or lo <= 0 or a.step != 1 or index not in subscripts[1:]:
        return a
    nodes = topological((*values, *subscripts))
    cells = {s for n in nodes if isinstance(n, eq.Read) for s in n.subscripts if s is not index}
    if any(index in topological((s,)) for s in (*cells, *(s for s in subscripts if s is not index))):
        return a
    if any(isinstance(n, eq.FoldResult | eq.CarryIn | eq.Scan) and a in axes_of(n) for n in nodes):
        return a
    follows = implied(known, eq.Op("ge", (index, a.lo), BOOL))
    return replace(a, lo=eq.Const(0, INT)) if follows else a


__all__ = ["whole_columns"]
