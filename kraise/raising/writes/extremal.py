"""What an arg-reduction finds is the extremum: ``f(argmin of f(k))`` is the least of ``f(k)``.

A kernel that keeps the place alone computes the value there again: a load through an index array, whose gradient is a
scatter. The extremum is one more reduction of what the place was found by. The side conditions: all rounds take part
(no mask hides the place's own), and the value at the place is that very expression.
"""

from __future__ import annotations

from kraise.ir import equations as eq
from kraise.ir.walk import substitute, topological
from kraise.raising.carried.problem import at_index


def extremal(e: eq.Expr) -> eq.Expr:
    """``e`` with the values at places of extrema as these extrema."""
    nodes = topological((e,))
    places = [n for n in nodes if isinstance(n, eq.ArgReduce) and n.op in ("min", "max") and n.where is None]
    found: dict[eq.Expr, eq.Expr] = {}
    for place in places:
        held = [n for n in topological((place.body,)) if isinstance(n, eq.Index) and n.name == place.axis.name]
        if len(held) != 1 or place.body.type.kind == "bool":
            continue
        there = at_index(place.body, held[0], place)
        found[there] = eq.Reduce(place.op, (place.axis,), place.body, None, place.body.type)
    return substitute(e, found) if not found.keys().isdisjoint(nodes) else e


__all__ = ["extremal"]
