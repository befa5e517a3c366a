"""What sizes must be for the first thread's accesses to lie in their arrays: ``a[j * w + w - 2]`` with j = 0 asks for w
>= 2 (contract, section 2: on other launches the source is not defined).

The last column of a grid that is copied to the first, ``a[j * w] = a[j * w + w - 2]``, races for w = 1 alone, where the
copied cell lies before the array. Where a proof needs it, that is assumed, checked and said.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraise.analysis.conditions import classify, is_static
from kraise.analysis.delinearize import provable
from kraise.analysis.dependence import Access, implied
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, substitute
from kraise.raising.run.arithmetic import index_like, tidy


def in_front(accesses: Iterable[Access]) -> tuple[eq.Expr, ...]:
    """The conditions under which no first instance of a flat access lies before its array. An instance that only some
    launches have says nothing."""
    out: dict[eq.Expr, None] = {}
    for a in accesses:
        subscripts = a.whole if a.view else a.subscripts
        if len(subscripts) != 1 or not index_like(subscripts[0]):
            continue
        first = _first(a.path)
        if first is None or any(free_indices(subscripts[0]) - {n for n, _ in first}):
            continue
        mapping: dict[eq.Expr, eq.Expr] = {eq.Index(n, INT): eq.Const(at, INT) for n, at in first}
        place = to_poly(tidy(substitute(subscripts[0], mapping)))
        if place.value is not None or not is_static(place) or provable(a.path, place):
            continue
        if all(_holds(a.path, c, mapping) for c in a.path):
            out[_at_least_zero(_without_sizes(place, a.path))] = None
    return tuple(out)


def _first(path: tuple[eq.Expr, ...]) -> list[tuple[str, int]] | None:
    """The indices of a path, and the number that each begins with; None where one begins elsewhere."""
    least: dict[str, int] = {}
    for c in path:
        fact = classify(c)
        if fact is None or fact.kind != "ge":
            continue
        rest = fact.poly - fact.poly.offset
        (only,) = rest.terms if len(rest.terms) == 1 else (None,)
        if only is not None and len(only) == 1 and isinstance(only[0], eq.Index) and rest.terms[only] == 1:
            least[only[0].name] = max(least.get(only[0].name, -fact.poly.offset), -fact.poly.offset)
    names = frozenset().union(*map(free_indices, path))
    return sorted(least.items()) if names <= least.keys() else None


def _holds(path: tuple[eq.Expr, ...], condition: eq.Expr, first: dict[eq.Expr, eq.Expr]) -> bool:
    """Whether what the path asks of an instance is so of the first one, wherever there is any."""
    there = tidy(substitute(condition, first))
    return there == eq.Const(True, BOOL) or implied(path, there)


def _without_sizes(place: Poly, path: tuple[eq.Expr, ...]) -> Poly:
    """``(h - 2) * w`` without the w that the path has as one or more."""
    while all(place.terms):
        common = set.intersection(*({*m} for m in place.terms))
        by = next((a for a in sorted(common, key=repr) if provable(path, to_poly(a) - 1)), None)
        if by is None:
            break
        terms = {}
        for m, c in place.terms.items():
            rest = list(m)
            rest.remove(by)
            terms[tuple(rest)] = c
        place = Poly(terms)
    return place


def _at_least_zero(place: Poly) -> eq.Expr:
    return eq.Op("ge", (to_expr(place - place.offset), eq.Const(-place.offset, INT)), BOOL)


__all__ = ["in_front"]
