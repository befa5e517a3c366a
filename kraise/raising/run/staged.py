"""Loads that one thread staged for another, taken apart where they are used.

The instance that uses ``u[y * n + min(x, n - 1)]``, or a border clamped by choices, often proves what the one that
loaded it could not: a thread beyond the array stages a cell, too.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.delinearize import digits
from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.walk import topological, transform
from kraise.raising.run.arithmetic import index_like
from kraise.raising.run.context import Context
from kraise.raising.run.state import ROWS, State
from kraise.raising.threads.row_views import without_launch
from kraise.raising.writes.decided import decided


def in_rows_here(cx: Context, st: State, value: eq.Expr | None) -> eq.Expr | None:
    """``value``, which was staged, with its flat loads in rows where ``st`` proves that columns are within one."""
    if value is None or any(isinstance(n, eq.Reduce | eq.ArgReduce | eq.Scan) for n in topological((value,))):
        return value  # what the path says of an index is not said of one that is bound there
    known = (*st.path, *st.facts)

    def one(node: eq.Expr) -> eq.Expr:
        if not isinstance(node, eq.Read) or len(node.subscripts) != 1 or node.view or node.version.array in st.locals:
            return node
        if not any(isinstance(n, eq.Op) and n.name in ("min", "max", "select") for n in topological(node.subscripts)):
            return node  # the rows of a tile within a range are no rows of the array
        place = decided(node.subscripts[0], known)
        found = digits(to_poly(place), known) if index_like(place) else None
        found = None if found is None else without_launch(found, cx.named_blocks())
        if found is None:
            return node
        return replace(
            node, subscripts=tuple(map(to_expr, found.subscripts)), view=(ROWS, *map(to_expr, found.radices))
        )

    return transform(value, one)
