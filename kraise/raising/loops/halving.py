"""How many rounds a search can have whose range differs from lane to lane: as many as the range has bits.

Each round of a binary search that another one follows leaves at most half of the places between its two ends (one that
leaves them as they are would never end). It looks at the middle, so the middles of two rounds lie in the array, and are
a quarter of the range apart: a range is less than four times as long as the array. Where both ends are entries of
arrays of places (row pointers), these are taken to be places of the array, which is said: the range is no longer than
the array then. Where no array is looked at, the width of the ends bounds their distance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kraise.analysis.conditions import classify, conjuncts, is_static
from kraise.analysis.dependence import Access
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import topological
from kraise.raising.run.state import State

# by the c of `hi - lo + c >= 0`: where the ends go, counted from the middle, and what is added before halving
_FORMS = {(-1, 1, 0, 0), (0, 1, -1, 0), (-2, 0, 0, 0), (-1, 0, -1, 1)}


def halving(
    condition: eq.Expr,
    carries: Mapping[str, eq.CarryIn],
    updates: Mapping[str, eq.Expr],
    inner: State,
    first: int,
    inits: Mapping[str, eq.Expr],
    places: Callable[[eq.Read, eq.Shape], None],
) -> eq.Expr | None:
    """The most rounds of such a loop, or None if it is none. ``updates`` are those of rounds that another one
    follows; ``inner`` is the state in a round, whose accesses are those from ``first`` on. ``places`` takes for granted
    that all entries of the array of a load are places of another array."""
    always = set(inner.path)
    accesses = [a for a in inner.accesses[first:] if set(a.path) <= always]
    for c in conjuncts(condition):
        fact = classify(c)
        if fact is None or fact.kind != "ge":
            continue
        for low, a in carries.items():
            for high, b in carries.items():
                gap = (fact.poly - Poly({(b,): 1}) + Poly({(a,): 1})).value
                if low != high and gap in (0, -1, -2):
                    middle = _middle(gap, a, b, updates[low], updates[high], set(carries.values()))
                    if middle is not None:
                        looked = _looked_at(middle, accesses, inner, set(carries.values()))
                        if looked is None:
                            return eq.Const(32 if a.type.bits == 32 else 64, INT)
                        rows = _pointers(gap, inits.get(low), inits.get(high))
                        for row in rows:
                            places(row, looked)
                        more = 0 if rows else 2
                        return to_expr(Poly({(eq.Op("bit_length", (looked,), INT),): 1}) + more)
    return None


def _leaves(update: eq.Expr, own: set[eq.CarryIn], allowed: set[eq.CarryIn]) -> list[eq.Expr] | None:
    """The values that an update may have; None if which one depends on what else is carried."""
    match update:
        case eq.Op(name="select", args=(condition, a, b)):
            if (own - allowed) & set(topological((condition,))):
                return None
            one, two = _leaves(a, own, allowed), _leaves(b, own, allowed)
            return None if one is None or two is None else [*one, *two]
    return [update]


def _middle(
    gap: int, low: eq.CarryIn, high: eq.CarryIn, lower: eq.Expr, upper: eq.Expr, own: set[eq.CarryIn]
) -> Poly | None:
    """The middle between the ends, if each end stays or goes there."""
    ends = {low, high}
    first, last = _leaves(lower, own, ends), _leaves(upper, own, ends)
    if first is None or last is None or not (low.type.is_integer and high.type.is_integer):
        return None
    up = {to_poly(x) for x in first if x is not low}
    down = {to_poly(x) for x in last if x is not high}
    if len(up) != 1 or len(down) != 1:
        return None
    (one,), (two,) = up, down
    for c, a, b, extra in _FORMS:
        middle = one - a
        if c == gap and middle == two - b and _halves(middle, low, high, extra):
            return middle
    return None


def _halves(middle: Poly, low: eq.Expr, high: eq.Expr, extra: int) -> bool:
    """``(lo + hi + extra) // 2`` or ``lo + (hi - lo + extra) // 2``."""
    one, two = Poly({(low,): 1}), Poly({(high,): 1})
    for half, whole in ((middle, one + two + extra), (middle - one, two - one + extra)):
        if len(half.terms) != 1:
            continue
        (term, factor), *_ = half.terms.items()
        if factor != 1 or len(term) != 1:
            continue
        match term[0]:
            case (
                eq.Op(name="floordiv" | "tdiv", args=(x, eq.Const(value=2)))
                | eq.Op(name="shr", args=(x, eq.Const(value=1)))
            ) if to_poly(x) == whole:
                return True
    return False


def _looked_at(middle: Poly, accesses: list[Access], st: State, own: set[eq.CarryIn]) -> eq.Shape | None:
    """The extent of an array that each round looks into at the middle; None where there is none."""
    for a in accesses:
        if a.write or a.view or a.array in st.locals:
            continue
        for axis, sub in enumerate(a.subscripts):
            moved = to_poly(sub) - middle
            extent = eq.Shape(a.array, axis, INT)
            if not own & set(topological((to_expr(moved),))) and is_static(to_poly(extent)):
                return extent
    return None


def _pointers(gap: int, low: eq.Expr | None, high: eq.Expr | None) -> tuple[eq.Read, ...]:
    """The loads that the ends are, of arrays as they were given: between them are as many places as the two are apart;
    () where the ends are anything else."""
    if low is None or high is None:
        return ()
    found: list[eq.Read] = []
    for end, most in ((low, 0), (high, -1 if gap == 0 else 0)):
        loads = [n for n in to_poly(end).atoms() if isinstance(n, eq.Read)]
        if len(loads) != 1 or loads[0].version.number or len(loads[0].subscripts) != 1:
            return ()
        rest = (to_poly(end) - to_poly(loads[0])).value
        if rest is None or (rest > most if end is high else rest < most):
            return ()
        found.append(loads[0])
    return tuple({load.version: load for load in found}.values())
