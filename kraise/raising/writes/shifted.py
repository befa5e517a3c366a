"""Indices that are moved along by a loop around them: ``m[i + t + 1] = …  for i < n - 1 - t`` in each round t.

The cells that all rounds store to are one range, and those of a round a mask over it, if the index is the cell's own
number: ``m[i] = …  where i > t``. So is what is stored from the end on (``y[n - 1 - i]``). An index of a write is bound
by it: renaming it is always right. It is worth while where one subscript alone holds it, by itself.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.conditions import classify
from kraise.analysis.dependence import Access
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import Unmovable, free_indices, topological
from kraise.raising.carried.problem import at_index
from kraise.raising.run.arithmetic import tidy
from kraise.raising.run.state import Raw, RawFold, RawWrite, map_access, map_raw

Names = dict[eq.Expr, eq.Name]


def shifted(raws: list[Raw], names: Names, accesses: list[Access], around: tuple[str, ...] = ()) -> list[Raw]:
    """``raws`` with such indices as the numbers of the cells; ``around`` are the indices of loops around. ``names``
    gets the source's names for what values have become, ``accesses`` the source's accesses in the new index."""
    out: list[Raw] = []
    for raw in raws:
        match raw:
            case RawWrite():
                out.append(_write(raw, names, accesses, around))
            case RawFold(fold, body):
                inner = around if fold.axis is None else (*around, fold.axis.name)
                out.append(RawFold(fold, tuple(shifted(list(body), names, accesses, inner))))
            case _:
                out.append(raw)
    return out


def _write(raw: RawWrite, names: Names, accesses: list[Access], around: tuple[str, ...]) -> RawWrite:
    for name in raw.loops:
        index = eq.Index(name, INT)
        target = _target(raw, index, around)
        if target is None or _kept_along(raw, name):
            continue

        def fn(e: eq.Expr, index: eq.Index = index, target: eq.Expr = target) -> eq.Expr:
            return tidy(at_index(e, index, target)) if index.name in free_indices(e) else e

        try:
            moved = map_raw(raw, fn)
            called = [replace(n, expr=fn(e)) for e, n in names.items() if index.name in free_indices(e)]
            seen = [map_access(a, fn) for a in accesses if index.name in _free(a)]
        except Unmovable:
            continue
        accesses += seen
        assert isinstance(moved, RawWrite)
        raw = replace(moved, path=tuple(compared(c) if index.name in free_indices(c) else c for c in moved.path))
        for n in called:
            names.setdefault(n.expr, n)
    return raw


def _target(raw: RawWrite, index: eq.Index, around: tuple[str, ...]) -> eq.Expr | None:
    """What the index is in terms of the cell's number, None where it stays."""
    holding = [s for s in raw.subscripts if index.name in free_indices(s)]
    if len(holding) != 1:
        return None
    poly = to_poly(holding[0])
    if not poly.is_affine_in((index.name,)):
        return None
    sign, rest = poly.coefficient(index).value, poly.without(index)
    if sign not in (1, -1) or not rest.indices() <= set(around) or any(not _plain(a) for a in rest.atoms()):
        return None
    if any(rest.coefficient(a).value not in (1, -1) for a in rest.atoms() if isinstance(a, eq.Index)):
        return None  # each round has cells of its own: all of them together are many times those of one
    if sign == 1 and not rest.indices():
        return None  # a slice that begins further on
    return to_expr((Poly({(index,): 1}) - rest) * sign)


def _free(a: Access) -> frozenset[str]:
    return frozenset().union(*map(free_indices, (*a.subscripts, *a.path)))


def compared(condition: eq.Expr) -> eq.Expr:
    """``i - t - 1 >= 0`` as ``i > t``: nothing is subtracted on either side."""
    fact = classify(condition)
    if fact is None or fact.kind != "ge" or not all(map(_plain, fact.poly.atoms())):
        return condition
    number = fact.poly.terms.get((), 0)
    more = Poly({m: c for m, c in fact.poly.terms.items() if m and c > 0})
    less = Poly({m: -c for m, c in fact.poly.terms.items() if m and c < 0})
    if not more.terms:
        return condition
    if number == -1:
        return eq.Op("gt", (to_expr(more), to_expr(less)), BOOL)
    return eq.Op("ge", (to_expr(more + max(number, 0)), to_expr(less - min(number, 0))), BOOL)


def _plain(atom: eq.Expr) -> bool:
    return isinstance(atom, eq.Index | eq.Param | eq.Shape)


def _kept_along(raw: RawWrite, name: str) -> bool:
    """Whether something is held along the index as it is: a running value, what a loop carries or leaves."""
    nodes = topological((*raw.subscripts, raw.value, *raw.path))
    return any(
        (isinstance(n, eq.FoldResult | eq.CarryIn) and any(a.name == name for a in n.axes))
        or (isinstance(n, eq.Scan) and n.axis.name == name)
        for n in nodes
    )


__all__ = ["shifted"]
