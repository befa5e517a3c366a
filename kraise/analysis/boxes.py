"""Domains as boxes: the range of each index from a path condition, and what the box does not say.

The box of indices i, j, … under a conjunction is given by bounds that hold no index. A bound such as ``j <= i`` stays
in the residue and bounds j by the largest value of i: a triangle is its hull with a condition.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraise.analysis.conditions import Fact, always, classify, divisor, is_static, modulus
from kraise.analysis.poly import Poly, constant, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import free_indices


class Unbounded(Exception):
    """Nothing that is known when the function is traced bounds index ``name`` on side ``side``."""

    def __init__(self, name: str, side: str):
        super().__init__(f"{name} has no {side} bound")
        self.name = name
        self.side = side


@dataclass(frozen=True)
class Box:
    """``axes`` in the order asked for; ``residue``: the conjuncts that the axes do not imply."""

    axes: tuple[eq.Axis, ...]
    residue: tuple[eq.Expr, ...]


@dataclass(frozen=True)
class _Bound:
    """``by * v + rest >= 0`` (lower) or ``-by * v + rest >= 0`` (upper) with by > 0."""

    rest: Poly
    by: int
    exact: bool

    def value(self, rest: Poly, side: str) -> Poly:
        """The bound on v (inclusive) where the other indices make ``rest`` what is given."""
        floor = floor_of(rest, self.by)
        return -floor if side == "lower" else floor


def floor_of(poly: Poly, by: int) -> Poly:
    """floor(poly / by) for by > 0."""
    if by == 1:
        return poly
    if poly.value is not None:
        return constant(poly.value // by)
    if all(c % by == 0 for m, c in poly.terms.items() if m):
        return Poly({m: c // by for m, c in poly.terms.items()})  # what the constant leaves over is less than one
    whole = poly.offset if poly.offset % by == 0 else 0  # (n - 4) // 4 is n // 4 - 1
    rest = poly - whole
    if all(c == -1 for m, c in rest.terms.items() if m) and (rest.offset + 1) % by == 0:
        left = -rest + rest.offset  # (3 - n) // 4 is -(n // 4)
        return -floor_of(left, by) + (whole + rest.offset + 1) // by - 1
    return Poly({(eq.Op("floordiv", (to_expr(rest), eq.Const(by, INT)), INT),): 1}) + whole // by


def _bounds_of(poly: Poly, names: frozenset[str]) -> list[tuple[str, str, _Bound]]:
    """What ``poly >= 0`` says of each index in it: (index, "lower"/"upper", bound)."""
    out: list[tuple[str, str, _Bound]] = []
    if not poly.is_affine_in(names):
        return []
    for atom in [a for a in poly.atoms() if isinstance(a, eq.Index) and a.name in names]:
        c = poly.coefficient(atom).value
        if c is None:
            continue
        rest = poly.without(atom)
        if not is_static(Poly({m: k for m, k in rest.terms.items() if not _index_term(m, names)})):
            continue
        exact = not (rest.indices() & names)
        out.append((atom.name, "lower" if c > 0 else "upper", _Bound(rest, abs(c), exact)))
    return out


def _multiplied(poly: Poly, names: frozenset[str]) -> Poly:
    """What ``poly >= 0`` says without its one quotient of an index by a number: ``k <= i // 32 - 1`` is
    ``32 * k <= i - 32``, for integers. Of the indices around a loop: a thread's own digits are better taken apart."""
    quotients = [a for a in poly.atoms() if isinstance(a, eq.Op) and a.name == "floordiv" and free_indices(a) & names]
    if len(quotients) != 1:
        return poly
    (atom,) = quotients
    sign, by = poly.coefficient(atom).value, atom.args[1]
    if sign not in (1, -1) or not isinstance(by, eq.Const) or type(by.value) is not int or by.value < 2:
        return poly
    return (poly.without(atom) * by.value) + to_poly(atom.args[0]) * sign + (0 if sign == 1 else by.value - 1)


def _index_term(monomial: tuple[eq.Expr, ...], names: frozenset[str]) -> bool:
    return any(isinstance(a, eq.Index) and a.name in names for a in monomial)


class _Hull:
    """Bounds of indices without indices, by substituting the bounds of the other indices."""

    def __init__(self, bounds: dict[tuple[str, str], list[_Bound]], names: frozenset[str]):
        self.bounds = bounds
        self.names = names

    def of(self, name: str, side: str, busy: frozenset[str] = frozenset()) -> list[Poly]:
        """The bounds known for ``name`` on ``side``, the exact ones first, none dominated by another."""
        exact, derived = [], []
        for b in self.bounds.get((name, side), []):
            if b.exact:
                exact.append(b.value(b.rest, side))
            elif name not in busy:
                found = self._largest(b.rest, busy | {name})
                if found is not None:
                    derived.append(b.value(found, side))
        return _prune(exact, derived, side)

    def _largest(self, poly: Poly, busy: frozenset[str]) -> Poly | None:
        """The largest value of ``poly`` over the other indices, from their own bounds, or from one that ties them to
        each other: ``i + j`` where ``i < n - j``."""
        indices = [a for a in poly.atoms() if isinstance(a, eq.Index) and a.name in self.names]
        best = self._apart(poly, busy)
        for atom in sorted(indices, key=lambda a: a.name) if len(indices) > 1 else []:
            c = poly.coefficient(atom).value
            if c is None or atom.name in busy:
                continue
            side = "upper" if c > 0 else "lower"
            for b in self.bounds.get((atom.name, side), []):
                left = poly.substitute(atom, b.value(b.rest, side))
                fewer = left.indices() & self.names
                if not b.exact and fewer < (poly.indices() & self.names):
                    found = self._largest(left, busy | {atom.name})
                    if found is not None and (best is None or _grows(best - found)):
                        best = found
        return best

    def _apart(self, poly: Poly, busy: frozenset[str]) -> Poly | None:
        for atom in sorted(
            (a for a in poly.atoms() if isinstance(a, eq.Index) and a.name in self.names), key=lambda a: a.name
        ):
            c = poly.coefficient(atom).value
            if c is None or atom.name in busy:
                return None
            candidates = self.of(atom.name, "upper" if c > 0 else "lower", busy)
            if not candidates:
                return None
            # either is right of two; what the source says is as long as its arrays, a launch may reach beyond them
            poly = poly.substitute(atom, min(candidates, key=_by_launch))
        return None if poly.indices() & self.names else poly


def _by_launch(bound: Poly) -> bool:
    return any(isinstance(a, eq.Param) and a.name.startswith(("grid.", "block.", "threads.")) for a in bound.atoms())


def _grows(poly: Poly) -> bool:
    """Whether ``poly`` is not negative for all sizes but perhaps the smallest. (Of two bounds either is right.)"""
    parts = [c for m, c in poly.terms.items() if m]
    return bool(parts) and all(c > 0 for c in parts)


def _prune(exact: list[Poly], derived: list[Poly], side: str) -> list[Poly]:
    """Drops bounds that another one implies; a derived bound only stays where it is provably the tighter one."""

    def implied(weak: Poly, strong: Poly) -> bool:
        return always(strong - weak if side == "lower" else weak - strong)

    kept: list[Poly] = []
    for p in dict.fromkeys(exact):
        if not any(implied(p, k) for k in kept):
            kept = [k for k in kept if not implied(k, p)] + [p]
    for p in dict.fromkeys(derived):
        if not kept:
            kept.append(p)
        elif not any(implied(p, k) for k in kept) and all(implied(k, p) for k in kept):
            kept = [p]
    return kept


def box(names: tuple[str, ...], condition: tuple[eq.Expr, ...], context: tuple[str, ...] = ()) -> Box:
    """The box of ``names`` under the conjuncts ``condition``; indices of ``context`` are eliminated by their own
    bounds.

    Raises:
        Unbounded: an index has no lower or no upper bound known when the function is traced.
    """
    wanted = frozenset((*names, *context))
    bounds: dict[tuple[str, str], list[_Bound]] = {}
    strides: dict[str, tuple[int, Poly, eq.Expr]] = {}
    holes: list[tuple[str, Poly, eq.Expr]] = []
    used: set[eq.Expr] = set()
    for c in condition:
        fact = classify(c)
        if fact is None:
            continue
        number = fact.poly.value
        if number is not None and (number >= 0 if fact.kind == "ge" else (number == 0) is (fact.kind == "eq")):
            used.add(c)  # 0 == 0, where a digit has one value
            continue
        if fact.kind == "eq":
            stride = _stride(fact, wanted)
            if stride is not None:
                name, m, start = stride
                if name not in strides:
                    strides[name] = (m, start, c)
                continue
            found = _bounds_of(fact.poly, wanted) + _bounds_of(-fact.poly, wanted)
            for name, side, b in found:
                bounds.setdefault((name, side), []).append(b)
            if found and all(b.exact and n in names for n, _, b in found) and _unit(fact.poly, wanted):
                used.add(c)
        elif fact.kind == "ge":
            found = _bounds_of(_multiplied(fact.poly, frozenset(context)), wanted)
            for name, side, b in found:
                bounds.setdefault((name, side), []).append(b)
            if found and all(b.exact and n in names for n, _, b in found):
                used.add(c)
        else:
            hole = _hole(fact, wanted)
            if hole is not None:
                holes.append((*hole, c))
    hull = _Hull(bounds, wanted)
    axes = []
    for name in names:
        lower, upper = hull.of(name, "lower"), _before_extents(hull.of(name, "upper"))
        if not lower:
            raise Unbounded(name, "lower")
        if not upper:
            raise Unbounded(name, "upper")
        for n, at, source in holes:
            if n == name and at in lower:
                lower = [p + (p == at) for p in lower]
                used.add(source)
            elif n == name and at in upper:
                upper = [p - (p == at) for p in upper]
                used.add(source)
        step = 1
        if name in strides and len(lower) == 1:
            m, start, source = strides[name]
            gap = (start - lower[0]).value
            if gap is not None:
                lower = [lower[0] + gap % m]
                step = m
                used.add(source)
        lo = _combine("max", [to_expr(p) for p in lower])
        hi = _combine("min", [to_expr(p + 1) for p in upper])
        axes.append(eq.Axis(name, lo, hi, step))
    return Box(tuple(axes), tuple(c for c in condition if c not in used))


def _before_extents(tops: list[Poly]) -> list[Poly]:
    """Upper bounds without those by an extent of the launch where 0 is one: an extent is 1 at least."""

    def extent(p: Poly) -> bool:
        (e,) = p.atoms() if len(p.terms) == 1 and len(p.atoms()) == 1 else (None,)
        return isinstance(e, eq.Param) and e.name.split(".")[0] in ("block", "grid", "warps") and p == to_poly(e)

    return [p for p in tops if not extent(p + 1)] if any(p.value == 0 for p in tops) else tops


def largest(poly: Poly, condition: tuple[eq.Expr, ...]) -> Poly | None:
    """The largest value of ``poly`` where ``condition`` bounds its indices, or None if it does not."""
    names = frozenset(n for c in condition for n in free_indices(c)) | poly.indices()
    bounds: dict[tuple[str, str], list[_Bound]] = {}
    for c in condition:
        fact = classify(c)
        if fact is not None and fact.kind == "ge":
            for name, side, b in _bounds_of(fact.poly, names):
                bounds.setdefault((name, side), []).append(b)
    return _Hull(bounds, names)._largest(poly, frozenset())


def chosen_largest(poly: Poly) -> Poly:
    """``poly`` with each choice between numbers (``y + (1 if up else 0)``) as the one that makes it largest."""
    for atom in poly.atoms():
        numbers, factor = _choices(atom), poly.coefficient(atom).value
        if numbers and factor is not None and sum(atom in m for m in poly.terms) == 1:
            poly = poly.without(atom) + max(factor * n for n in numbers)
    return poly


def _choices(e: eq.Expr) -> tuple[int, ...]:
    """The numbers between which a choice chooses; none where it is another expression."""
    match e:
        case eq.Op(name="select", args=(_, a, b)):
            one, other = ((x.value,) if isinstance(x, eq.Const) else _choices(x) for x in (a, b))
            return (*one, *other) if one and other and all(type(v) is int for v in (*one, *other)) else ()  # type: ignore[return-value]
    return ()


def stated(poly: Poly, condition: tuple[eq.Expr, ...]) -> Poly | None:
    """The bound that one of the conditions sets for ``poly`` as it stands (``row + dy < height``), or None where there
    is none, or none that is surely the least.

    ``r != n - 1`` beside ``r < n`` says that r is at most n - 2.
    """
    facts = [f for f in map(classify, condition) if f is not None]
    gaps = [f.poly for f in facts if f.kind == "ge"]
    holes = {p for f in facts if f.kind == "ne" for p in (f.poly, -f.poly)}
    tops = [poly + g - (1 if g in holes else 0) for g in gaps]
    static = [t for t in tops if not t.indices() and is_static(t)]
    return next((t for t in static if all(always(other - t) for other in static)), None)


def _combine(op: str, bounds: list[eq.Expr]) -> eq.Expr:
    out = bounds[0]
    for b in bounds[1:]:
        out = eq.Op(op, (out, b), INT)
    return out


def _unit(poly: Poly, names: frozenset[str]) -> bool:
    """Whether ``poly == 0`` gives its index exactly (no division was needed)."""
    return all(
        poly.coefficient(a).value in (1, -1) for a in poly.atoms() if isinstance(a, eq.Index) and a.name in names
    )


def _stride(fact: Fact, names: frozenset[str]) -> tuple[str, int, Poly] | None:
    """``(v, m, s)`` if the fact is ``v ≡ s (mod m)`` with s free of indices."""
    found = modulus(fact.poly)
    if found is None:
        return None
    atom, rest = found
    m = divisor(atom)
    remainder = -rest
    if remainder.value is None or not 0 <= remainder.value < m:
        return None
    inner = to_poly(atom.args[0])
    hits = [a for a in inner.atoms() if isinstance(a, eq.Index) and a.name in names]
    if len(hits) != 1 or not inner.is_affine_in(names) or inner.coefficient(hits[0]).value not in (1, -1):
        return None
    other = inner.without(hits[0])
    if other.indices() or not is_static(other):
        return None
    sign = inner.coefficient(hits[0]).value or 1
    # sign * v + other ≡ remainder
    start = (remainder - other) * sign
    return hits[0].name, m, start


def _hole(fact: Fact, names: frozenset[str]) -> tuple[str, Poly] | None:
    """``(v, p)`` if the fact is ``v != p`` with p free of indices."""
    hits = [a for a in fact.poly.atoms() if isinstance(a, eq.Index) and a.name in names]
    if len(hits) != 1 or not fact.poly.is_affine_in(names):
        return None
    c = fact.poly.coefficient(hits[0]).value
    rest = fact.poly.without(hits[0])
    if c not in (1, -1) or rest.indices() or not is_static(rest):
        return None
    return hits[0].name, rest * -c
