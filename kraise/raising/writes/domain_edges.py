"""The edges of a domain: where a comparison of one index with a place near an end of its axis holds."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kraise.analysis.conditions import classify, conjunction, conjuncts, negate
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, topological

Axes = tuple[eq.Axis, ...]


@dataclass(frozen=True)
class _Edge:
    """A comparison: the part of the axis where it holds and the part where it does not. Of the one that is so many
    places at an end of the axis, what says that the axis has these."""

    inside: eq.Axis
    outside: eq.Axis
    needs: tuple[eq.Expr, ...]  # of the part inside
    asks: tuple[eq.Expr, ...]  # of the part outside


@dataclass(frozen=True)
class Part:
    """A box of a domain, and what must hold of the sizes for it to lie within."""

    axes: Axes
    there: tuple[eq.Expr, ...] = ()


@dataclass(frozen=True)
class Sides:
    """The box within which a condition holds if ``data`` does, and the faces where it does not; without ``holds`` the
    other way round."""

    box: Part
    faces: tuple[Part, ...]
    holds: bool
    data: eq.Expr | None

    def parts(self) -> tuple[Part, ...]:
        """Where a condition of edges alone holds."""
        return (self.box,) if self.holds else self.faces


def both_ends(axes: Axes, faces: tuple[Part, ...]) -> bool:
    """Whether the faces hold all corners of the domain: what is loaded there, is inside everywhere."""
    for k, a in enumerate(axes):
        mine = [f.axes[k] for f in faces if f.axes[k] != a]
        if any(m.lo == a.lo for m in mine) and any(m.hi == a.hi for m in mine):
            return True
    return False


def sides(condition: eq.Expr, axes: Axes) -> Sides | None:
    """Where a condition holds, by edges of a domain; None if it speaks of none."""
    for holds in (True, False):
        parts = conjuncts(condition if holds else negate(condition))
        found = {c: e for c, e in ((c, _edge(c, axes)) for c in parts) if e is not None}
        if not found:
            continue
        edges, box = list(found.values()), axes
        for k, e in edges:
            here = _met(axes[k], box[k], e.inside)
            if here is None:
                return None
            box = (*box[:k], here, *box[k + 1 :])
        faces = tuple(Part((*axes[:k], e.outside, *axes[k + 1 :]), e.asks) for k, e in edges)
        data = conjunction([c for c in parts if c not in found])
        return Sides(Part(box, tuple(c for _, e in edges for c in e.needs)), faces, holds, data)
    return None


def _met(whole: eq.Axis, a: eq.Axis, b: eq.Axis) -> eq.Axis | None:
    """The places of both parts of an axis."""
    lo, hi = a.lo, a.hi
    if b.lo != whole.lo:
        more = (to_poly(b.lo) - to_poly(lo)).value
        if lo != whole.lo and more is None:
            return None
        lo = lo if more is not None and more < 0 else b.lo
    if b.hi != whole.hi:
        less = (to_poly(hi) - to_poly(b.hi)).value
        if hi != whole.hi and less is None:
            return None
        hi = hi if less is not None and less < 0 else b.hi
    return replace(whole, lo=lo, hi=hi)


def _edge(condition: eq.Expr, axes: Axes) -> tuple[int, _Edge] | None:
    """A comparison of one index, by the number of its axis."""
    names = free_indices(condition)
    fact = classify(condition)
    if len(names) != 1 or fact is None or any(isinstance(n, eq.Read) for n in topological((condition,))):
        return None
    k = next((k for k, a in enumerate(axes) if a.name in names), None)
    if k is None or axes[k].step != 1:
        return None
    a = axes[k]
    lo, hi = to_poly(a.lo), to_poly(a.hi)
    index = next((n for n in fact.poly.atoms() if isinstance(n, eq.Index)), None)
    if index is None:
        return None
    sign, rest = fact.poly.coefficient(index).value, fact.poly.without(index)
    if sign not in (1, -1) or rest.indices():
        return None
    place = -rest if sign == 1 else rest  # where the sum is zero
    upper = False
    match fact.kind:
        case "ge" if sign == 1:
            cut, upper = place, True  # from there on
        case "ge":
            cut = place + 1  # below it
        case _ if (place - lo).value == 0:
            cut, upper = lo + 1, fact.kind == "ne"
        case _ if (hi - place).value == 1:
            cut, upper = hi - 1, fact.kind == "eq"
        case _:
            return None
    first, last = (cut - lo).value, (hi - cut).value
    if not any(n is not None and n > 0 for n in (first, last)):
        return None
    at = to_expr(cut)
    low, high = replace(a, hi=at), replace(a, lo=at)
    within = first is not None and last is not None and first >= 0 and last >= 0  # an axis of so many places
    below: tuple[eq.Expr, ...] = ()
    above: tuple[eq.Expr, ...] = ()
    if first == 1:
        below = (_there(hi - cut),)
    elif first is not None and not within:
        low = replace(a, hi=eq.Op("min", (at, a.hi), INT))
    if last == 1:
        above = (_there(cut - lo),)
    elif last is not None and not within:
        high = replace(a, lo=eq.Op("max", (at, a.lo), INT))
    return k, _Edge(high, low, above, below) if upper else _Edge(low, high, below, above)


def _there(room: Poly) -> eq.Expr:
    """``n >= 2``: that an axis has room for what lies at its end."""
    least = eq.Const(-room.offset, INT)
    return eq.Op("ge", (to_expr(room - room.offset), least), BOOL)


def single(a: eq.Axis) -> tuple[eq.Axis, eq.Expr] | None:
    """``0 <= i < min(n, 1)`` and ``max(1, n - 1) <= i < n`` as one place, and what says that it is there."""
    lo, hi = to_poly(a.lo), to_poly(a.hi)
    match a.lo, a.hi:
        case _, eq.Op(name="min", args=(x, y)):
            for one, other in ((to_poly(x), to_poly(y)), (to_poly(y), to_poly(x))):
                if (one - lo).value == 1:
                    return replace(a, hi=to_expr(one)), _there(other - one)
        case eq.Op(name="max", args=(x, y)), _:
            for one, other in ((to_poly(x), to_poly(y)), (to_poly(y), to_poly(x))):
                if (hi - one).value == 1:
                    return replace(a, lo=to_expr(one)), _there(one - other)
    return None
