"""Choices at a border as clamps: ``x[i] if i == 0 else x[i - 1]`` is ``x[max(i - 1, 0)]``, and
``x[n - 1] if i == 0 else x[i - 1]`` is ``x[(i - 1) % n]``.

A choice between two subscripts is their minimum (maximum) where the one that is chosen is never the larger (smaller);
what an equality says of an index is put in first. Both are proved from the condition and the path around it. So is
which of an index and a number is the larger.
"""

from __future__ import annotations

from kraise.analysis.conditions import classify, is_static, negate, of_launch
from kraise.analysis.delinearize import provable
from kraise.analysis.dependence import nonnegative
from kraise.analysis.poly import Monomial, Poly, is_integer, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices
from kraise.raising.run.arithmetic import index_like

Path = tuple[eq.Expr, ...]


def clamped(condition: eq.Expr, a: eq.Expr, b: eq.Expr, path: Path) -> eq.Expr | None:
    """``a if condition else b`` as one expression without a choice, or None.

    Of integers a minimum or maximum; of two loads that differ in one subscript the load at that.
    """
    if not free_indices(condition) or classify(condition) is None:
        return None
    if isinstance(a, eq.Read) and isinstance(b, eq.Read):
        return _load(condition, a, b, path)
    again = _again(condition, a, b)
    if again is not None:
        return again
    if not (is_integer(a) and is_integer(b) and _affine(a) and _affine(b)):
        return None
    extreme = _extreme(condition, a, b, path)
    if isinstance(extreme, eq.Op) and extreme.name in ("max", "min"):
        one, other = extreme.args
        return larger(extreme.name, one, other, path) or extreme
    return extreme


def larger(name: str, a: eq.Expr, b: eq.Expr, path: Path) -> eq.Expr | None:
    """Which of an index and a number ``max`` (``min``) is, where the path says: ``max(block * size, 0)``."""
    for one, bound in ((a, b), (b, a)):
        if isinstance(bound, eq.Const) and free_indices(one) and index_like(one):
            above = to_poly(one) - to_poly(bound)
            above = above if name == "max" else -above
            if _counts(above, path) or provable(path, above):
                return one
    return None


def _counts(poly: Poly, path: Path) -> bool:
    """Whether it is a sum of products of blocks, threads and their numbers."""
    zero = eq.Const(0, INT)
    naturals = (of_launch(a) or eq.Op("ge", (a, zero), BOOL) in path for a in poly.atoms())
    return all(c >= 0 for c in poly.terms.values()) and all(naturals)


def _again(condition: eq.Expr, a: eq.Expr, b: eq.Expr) -> eq.Expr | None:
    """``last if place > last else place`` of a place that was clamped at its other end before."""
    if not (isinstance(condition, eq.Op) and condition.name in ("lt", "le", "gt", "ge")):
        return None
    x, y = condition.args
    if not ((a is x and b is y) or (a is y and b is x)) or a.type.kind != "int" or b.type.kind != "int":
        return None
    place, end = (x, y) if isinstance(x, eq.Op) and x.name in ("min", "max") else (y, x)
    if not (isinstance(place, eq.Op) and place.name in ("min", "max") and all(map(_affine, place.args))):
        return None
    if place.type != INT or free_indices(end) or not _affine(end):
        return None
    return eq.Op("min" if (a is x) == (condition.name in ("lt", "le")) else "max", (place, end), INT)


def _load(condition: eq.Expr, a: eq.Read, b: eq.Read, path: Path) -> eq.Expr | None:
    if a.version is not b.version or a.view != b.view or a.type != b.type or len(a.subscripts) != len(b.subscripts):
        return None
    differing = [k for k, (s, t) in enumerate(zip(a.subscripts, b.subscripts, strict=True)) if s is not t]
    if len(differing) != 1:
        return None
    (k,) = differing
    if not (_affine(a.subscripts[k]) and _affine(b.subscripts[k])):
        return None
    one = _extreme(condition, a.subscripts[k], b.subscripts[k], path)
    if one is None:
        return None
    return eq.Read(a.version, (*a.subscripts[:k], one, *a.subscripts[k + 1 :]), a.type, a.view)


def _extreme(condition: eq.Expr, a: eq.Expr, b: eq.Expr, path: Path) -> eq.Expr | None:
    no = negate(condition)
    x, y = _known(condition, a, path), _known(no, b, path)
    gap = to_poly(y) - to_poly(x)
    if not gap.terms:  # the condition tells one cell by two names
        return to_expr(to_poly(x))
    size = _in_all(gap)
    for by in ((), size) if nonnegative(path, Poly({size: 1})) else ((),):
        apart = _less(gap, by)  # whole rows apart: so many rows
        for name, up in (("min", apart), ("max", -apart)):
            if nonnegative((*path, condition), up) and nonnegative((*path, no), -up):
                return _over_common(name, to_poly(x), to_poly(y), by)
    return _around(condition, x, y, path) or _around(no, y, x, path)


def _over_common(name: str, x: Poly, y: Poly, size: Monomial) -> eq.Expr | None:
    """The extremum of two places a multiple of ``size`` apart, one of which is the start or the end of what both are
    in: ``y * w + max(x - 1, 0)``, ``max(y - 1, 0) * w + x``."""
    common = Poly({t: c for t, c in x.terms.items() if y.terms.get(t) == c and Poly({t: c}).indices()})
    moving, fixed = (x - common, y - common) if (x - common).indices() else (y - common, x - common)
    if fixed.indices() or not (_within(moving, size) and _within(fixed, size)):
        return None
    end = eq.Op(name, (to_expr(_less(moving, size)), to_expr(_less(fixed, size))), INT)
    return to_expr(common + to_poly(end) * Poly({size: 1})) if common.terms or size else end


def _in_all(p: Poly) -> Monomial:
    """The sizes that every term of ``p`` is a multiple of."""
    first, *others = p.terms
    return tuple(a for a in first if isinstance(a, eq.Param | eq.Shape) and all(a in t for t in others))[:1]


def _within(p: Poly, size: Monomial) -> bool:
    return all(a in t for t in p.terms for a in size)


def _less(p: Poly, size: Monomial) -> Poly:
    """``p / size``, which divides every term."""
    out: dict[Monomial, int] = {}
    for term, factor in p.terms.items():
        left = list(term)
        for a in size:
            left.remove(a)
        out[tuple(left)] = factor
    return Poly(out)


def _around(condition: eq.Expr, end: eq.Expr, moving: eq.Expr, path: Path) -> eq.Expr | None:
    """A place that wraps around: at the one index that the condition leaves, ``end`` is the other place a whole period
    further, and the place lies within one period elsewhere."""
    if free_indices(end) or len(free_indices(moving)) != 1 or not is_static(to_poly(end)):
        return None
    there, last = to_poly(_known(condition, moving, path)), to_poly(end)
    at, elsewhere = (*path, condition), (*path, negate(condition))
    if there.indices():
        return None
    for size, from_there in ((last - there, True), (there - last, False)):
        place = to_poly(moving)
        if size.value is None and all(
            nonnegative(where, p) and nonnegative(where, size - p - 1) for where, p in ((elsewhere, place), (at, last))
        ):
            return eq.Op("mod", (to_expr(place + size if from_there else place), to_expr(size)), INT)
    return None


def _known(condition: eq.Expr, e: eq.Expr, path: Path) -> eq.Expr:
    """``e`` with an index replaced by the one value that the condition and the path leave it."""
    fact = classify(condition)
    if fact is None or fact.kind == "ne":
        return e
    for atom in fact.poly.atoms():
        if isinstance(atom, eq.Index) and fact.poly.coefficient(atom).value in (1, -1):
            only = fact.poly.without(atom) * -(fact.poly.coefficient(atom).value or 1)
            gap = only - to_poly(atom)  # zero where the condition just holds
            up = gap if fact.poly.coefficient(atom).value == 1 else -gap
            if not only.indices() and (fact.kind == "eq" or nonnegative((*path, condition), up)):
                return to_expr(to_poly(e).substitute(atom, only))
    return e


def _affine(e: eq.Expr) -> bool:
    """Whether a subscript is a sum of indices, parameters and numbers, and of such that were clamped at an end."""
    return all(isinstance(x, eq.Index | eq.Param | eq.Shape) or _clamp(x) for x in to_poly(e).atoms())


def _clamp(e: eq.Expr) -> bool:
    return isinstance(e, eq.Op) and e.name in ("min", "max") and e.type == INT and all(map(_affine, e.args))
