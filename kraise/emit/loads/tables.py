"""Tables of numbers of the module: what stands at a constant place (``ex[2]`` of ``ex = (0, 1, 0, -1, 0)``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kraise.ir import equations as eq
from kraise.ir.kernel import Constant
from kraise.ir.walk import topological

Tables = Mapping[str, Constant]


def tables_of(constants: Iterable[Constant], params: Iterable[object]) -> Tables:
    """The tables among a module's constants by their names; a parameter hides one."""
    hidden = {p.name for p in params}  # type: ignore[attr-defined]
    return {c.name: c for c in constants if c.shape and c.name not in hidden}


def entry(tables: Tables, node: eq.Read) -> eq.Const | None:
    """The number that a load from a table at constant places is; None where it is no such load."""
    table = tables.get(node.version.array)
    if table is None or node.version.number or node.outside:
        return None
    at = 0
    for place, extent in zip(node.subscripts, node.view or table.shape, strict=True):
        known = extent.value if isinstance(extent, eq.Const) else extent
        if not isinstance(place, eq.Const) or not isinstance(place.value, int) or not isinstance(known, int):
            return None
        at = at * known + place.value
    return eq.Const(table.values[at], node.type) if 0 <= at < len(table.values) else None


def weak(tables: Tables, e: eq.Expr) -> bool:
    """Whether a value is made of Python's numbers alone, which take the type of the array that they meet."""
    arrays = (eq.CarryIn, eq.FoldResult, eq.HelperCall, eq.ArgReduce, eq.Scan, eq.Index)
    found = [n for n in topological((e,)) if isinstance(n, (eq.Read, *arrays))]
    return all(isinstance(n, eq.Read) and entry(tables, n) is not None for n in found)
