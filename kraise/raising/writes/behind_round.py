"""Cells behind that of a round: ``a[i, j] -= …  for 1 <= i and 1 <= j, where i > k and j > k`` is over all rows and
columns under its mask.

That i is at least one follows from the mask. A slice of rows or columns is copied out, computed with and copied in,
each a pass and, on a GPU, a launch of its own; and its gradient is padded. (Measured on eliminations: gradients take
0.6 to 0.9 of the time on a GPU, 0.8 on a CPU. The values take 0.5 to 0.9 on a GPU; on a CPU 0.75 where a factor is
stored with the matrix, but 2 to 3 times as long where XLA could update the slice in place.) The side conditions: the
index is a subscript of its own wherever it stands, so that cell 0 is one of the array.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.dependence import implied
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import axes_of, topological


def from_first(
    axes: tuple[eq.Axis, ...], subscripts: tuple[eq.Expr, ...], values: tuple[eq.Expr, ...], known: tuple[eq.Expr, ...]
) -> tuple[eq.Axis, ...]:
    """``axes`` with such axes from the first cell on; ``known`` are the masks and what bounds the indices of loops
    around, ``values`` what is computed over the axes."""
    return tuple(_from_first(a, subscripts, values, known) for a in axes)


def _from_first(
    a: eq.Axis, subscripts: tuple[eq.Expr, ...], values: tuple[eq.Expr, ...], known: tuple[eq.Expr, ...]
) -> eq.Axis:
    index, lo = eq.Index(a.name, INT), to_poly(a.lo).value
    if lo is None or lo <= 0 or a.step != 1 or index not in subscripts:
        return a
    nodes = topological((*values, *subscripts))
    cells = {s for n in nodes if isinstance(n, eq.Read) for s in n.subscripts if s is not index}
    if any(index in topological((s,)) for s in (*cells, *(s for s in subscripts if s is not index))):
        return a
    if any(isinstance(n, eq.FoldResult | eq.CarryIn | eq.Scan) and a in axes_of(n) for n in nodes):
        return a
    follows = implied(known, eq.Op("ge", (index, a.lo), BOOL))
    return replace(a, lo=eq.Const(0, INT)) if follows else a


__all__ = ["from_first"]
