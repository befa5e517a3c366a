"""What rides along with the extremum of a group of threads, as an arg-reduction."""

from __future__ import annotations

from typing import Any

from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, substitute
from kraise.raising.collective.describe import Chosen
from kraise.raising.collective.marks import Beyond
from kraise.raising.collective.picks import THREAD
from kraise.raising.run.arithmetic import operation, tidy

ZERO = eq.Const(0, INT)
_BITS = 10  # of the number of a thread of the largest block


def choice(source: Any, f: Chosen, path: tuple[eq.Expr, ...]) -> eq.Expr:
    """The value that all threads of the group hold, or the first one.

    Raises:
        Beyond, ValueError: there is no form for it.
    """
    found = source.found
    x = source._fresh("t" if f.group == 0 else "lane")
    extent = eq.Const(f.group, INT) if f.group else source._count(f.key, f.cells, f.key[1:-1])
    start = source._segment(found.lane, f.group) if f.group else None
    inside = (*path, eq.Op("ge", (x, ZERO), BOOL), eq.Op("lt", (x, extent), BOOL))

    def datum(family: str, at: eq.Expr) -> eq.Expr:
        if f.group:
            lane = at if start is None else operation("add", (start, at), INT)
            if family == THREAD:
                return found.at_lane(source.cx.threads["thread", 0], lane)
            return found.at_lane(source._datum(family), lane)
        return at if family == THREAD else source._cell(family, at, inside)

    axis = eq.Axis(x.name, ZERO, extent)
    key, rider = datum(f.key, x), datum(f.family, x)
    best: eq.Expr = eq.Reduce(f.op, (axis,), key, None, key.type)
    among = eq.Op("eq", (key, best), BOOL)
    if f.order:
        raise Beyond("an order that has no form")
    if f.tie == "halves":
        rank: eq.Expr = eq.Reduce("min", (axis,), _rank(x, extent), among, INT)
        return tidy(substitute(rider, {x: _rank(rank, extent)}))  # a rank of a rank is the place again
    way = _direction(rider, x) if f.tie in ("min", "max") else 1
    if not way:
        return eq.Reduce(f.tie, (axis,), rider, among, rider.type)
    last = f.tie == "last" or (f.tie in ("min", "max") and (f.tie == "max") == (way > 0))
    return tidy(substitute(rider, {x: eq.ArgReduce(f.op, axis, key, None, last, INT)}))


def _direction(e: eq.Expr, x: eq.Index) -> int:
    """1 or -1 where ``e`` grows or falls by so much with each ``x``, 0 if that is not known."""
    p = to_poly(e)
    if not e.type.is_integer or not p.is_affine_in([x.name]) or x.name not in free_indices(e):
        return 0
    return {1: 1, -1: -1}.get(p.coefficient(x).value or 0, 0)


def _rank(x: eq.Expr, extent: eq.Expr) -> eq.Expr:
    """The place of ``x`` in the order in which a tree by halves prefers its leaves, of which there are a power of two:
    the bits of ``x`` from the last to the first."""
    known = to_poly(extent).value
    out: eq.Expr = ZERO
    for b in range(_BITS if known is None else known.bit_length() - 1):
        bit = operation("mod", (operation("floordiv", (x, eq.Const(1 << b, INT)), INT), eq.Const(2, INT)), INT)
        weight = operation("floordiv", (extent, eq.Const(2 << b, INT)), INT)
        out = operation("add", (out, operation("mul", (weight, bit), INT)), INT)
    return out


__all__ = ["choice"]
