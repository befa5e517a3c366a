"""Rows of a flat array that an entry of one of the module's tables chooses: ``f[(opposite[q] * ny + y) * nx + x]``.

The table says how many there are. The side conditions: its entries are rows that other loads of the array reach, and
the subscripts within a row stay there over the whole domain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from kraise.analysis.dependence import implied
from kraise.analysis.poly import Poly, constant
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.raising.memory.ranged import Domain
from kraise.raising.run.state import ROWS

Entries = Mapping[eq.Expr, tuple[int, int]]  # a load from a table: the least and the largest entry


def entries(known: Iterable[eq.Expr]) -> Entries:
    """What ``known`` says of loads from tables (:func:`kraise.raising.run.tables.in_table`)."""
    ends: dict[eq.Expr, dict[str, int]] = {}
    for c in known:
        match c:
            case eq.Op(name="ge" | "le" as side, args=(load, eq.Const(value=int() as end))):
                ends.setdefault(load, {})[side] = end
    return {load: (e["ge"], e["le"]) for load, e in ends.items() if len(e) == 2}


def last_row(
    read: eq.Read, domain: Domain, tables: Entries, has_row: Callable[[eq.Read, Poly, Domain], bool]
) -> Poly | None:
    """The last of the rows from which a load takes its elements, None where no table says."""
    if not read.view or read.view[0] is not ROWS or read.subscripts[0] not in tables:
        return None
    first, last = tables[read.subscripts[0]]
    zero = eq.Const(0, INT)
    inside = [
        c
        for s, radix in zip(read.subscripts[1:], read.view[1:], strict=True)
        for c in (eq.Op("ge", (s, zero), BOOL), eq.Op("lt", (s, radix), BOOL))
    ]
    if first < 0 or not has_row(read, constant(last), domain) or not all(implied(domain, c) for c in inside):
        return None
    return constant(last)


__all__ = ["Entries", "entries", "last_row"]
