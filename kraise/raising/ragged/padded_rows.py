"""Rows of their own lengths in a table whose rows have one width (ELLPACK; Bell and Garland, SC 2009).

``for (c = 0; c < len[r]; c++)`` over ``x[r * width + c]`` (by rows) or ``x[c * rows + r]`` (by columns): the width, or
the number of columns that the array holds, bounds the loop, and the length is a condition. A longer row would go on in
the next one, or in a column that the array does not hold whole: that none does is taken for granted, and said.
"""

from __future__ import annotations

from functools import reduce

from kraise.analysis.boxes import Unbounded, box
from kraise.analysis.conditions import is_static
from kraise.analysis.delinearize import provable
from kraise.analysis.dependence import Access
from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices
from kraise.raising.loops.ranges import Range
from kraise.raising.run.arithmetic import operation
from kraise.raising.run.context import Context
from kraise.raising.run.state import State


def by_columns(cx: Context, st: State, a: Access, rng: Range) -> eq.Expr | None:
    """The bound of the loop's index where it is the row of ``a``, which is seen as rows: as many as there are."""
    if not all(is_static(to_poly(v)) for v in a.view[1:]):
        return None
    width = reduce(lambda x, y: x * y, map(to_poly, a.view[1:]))
    return _fits(cx, st, rng, operation("floordiv", (eq.Shape(a.array, 0, INT), to_expr(width)), INT))


def by_rows(cx: Context, st: State, accesses: list[Access], rng: Range) -> eq.Expr | None:
    """The bound of the loop's index where it steps within rows of one width."""
    widths: dict[eq.Expr, None] = {}
    for a in accesses:
        poly = to_poly(a.subscripts[0])
        if poly.coefficient(rng.index).value == 0:
            continue  # a gather by what such a cell holds
        rest = poly.without(rng.index)
        lanes = [x for x in rest.atoms() if isinstance(x, eq.Index)]
        if poly.coefficient(rng.index).value != 1 or len(lanes) != 1:
            return None
        width = rest.coefficient(lanes[0])
        if rest.without(lanes[0]).terms or not is_static(width) or lanes[0].name not in free_indices(rng.stop):
            return None
        if width.value is not None:
            return None  # x[i + k], x[2 * i + k]: windows that overlap are no rows
        widths[to_expr(width)] = None
    return _fits(cx, st, rng, next(iter(widths))) if len(widths) == 1 else None


def _fits(cx: Context, st: State, rng: Range, most: eq.Expr) -> eq.Expr | None:
    """The bound ``most`` of the loop's index, with what is taken for granted: that the longest row keeps to it."""
    lanes = tuple(sorted(free_indices(rng.stop)))
    if rng.step != 1 or not lanes or not provable((), to_poly(rng.start)):
        return None
    try:
        axes = box(lanes, tuple(c for c in st.path if free_indices(c) <= {*lanes}), ()).axes
    except Unbounded:
        return None
    fits = eq.Op("le", (rng.stop, most), BOOL)
    text = f"{render_expr(fits)} for all {', '.join(lanes)}"
    if text not in cx.assumptions:
        cx.assumptions.append(text)
        cx.relied.append(eq.Check(text, eq.Reduce("and", axes, fits, None, BOOL)))
    return eq.Op("lt", (rng.index, most), BOOL)


__all__ = ["by_columns", "by_rows"]
