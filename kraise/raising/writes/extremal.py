"""What an arg-reduction finds is the extremum: ``f(argmin of f(k))`` is the least of ``f(k)``.

A kernel that keeps the place alone computes the value there again: a load through an index array, whose gradient is a
scatter. The extremum is one more reduction of what the place was found by. The side conditions: all rounds take part
(no mask hides the place's own), the value at the place is that very expression, and there is a round: of none the place
is the first one, which the extremum would not look at. Where that is open the place itself is still asked for, and is
refused when there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.walk import substitute, topological
from kraise.raising.carried.problem import at_index
from kraise.raising.run.state import Raw, RawWrite
from kraise.raising.threads.launched import at_least_one


def extremal(raws: Sequence[Raw]) -> list[Raw]:
    """``raws`` with the values at places of extrema as these extrema."""
    done = {r: by_value(r.value) for r in raws if isinstance(r, RawWrite)}
    left = frozenset(n for n in topological(tuple(done.values())) if isinstance(n, eq.ArgReduce))
    return [replace(r, value=by_value(r.value, left)) if isinstance(r, RawWrite) else r for r in raws]


def by_value(e: eq.Expr, asked: frozenset[eq.Expr] | None = None) -> eq.Expr:
    """``e`` with such values, where there is a round or the place is one of those ``asked`` for anyway."""
    nodes = topological((e,))
    places = [
        n
        for n in nodes
        if isinstance(n, eq.ArgReduce)
        and n.op in ("min", "max")
        and n.where is None
        and (asked is None or n in asked or _some(n))
    ]
    found: dict[eq.Expr, eq.Expr] = {}
    for place in places:
        held = [n for n in topological((place.body,)) if isinstance(n, eq.Index) and n.name == place.axis.name]
        if len(held) != 1 or place.body.type.kind == "bool":
            continue
        there = at_index(place.body, held[0], place)
        found[there] = eq.Reduce(place.op, (place.axis,), place.body, None, place.body.type)
    return substitute(e, found) if not found.keys().isdisjoint(nodes) else e


def _some(place: eq.ArgReduce) -> bool:
    """Whether there is a round: by their number, or since the first place is loaded from an array whose places they
    are."""
    axis = place.axis
    if at_least_one(to_expr(to_poly(axis.hi) - to_poly(axis.lo))):
        return True
    loads = (n for n in topological((place.body,)) if isinstance(n, eq.Read) and not n.view)
    ends = ((n.version.array, d) for n in loads for d, s in enumerate(n.subscripts) if s == eq.Index(axis.name, s.type))
    first = to_poly(axis.lo).value == 0
    return first and isinstance(axis.hi, eq.Shape) and (axis.hi.array, axis.hi.axis) in set(ends)


__all__ = ["by_value", "extremal"]
