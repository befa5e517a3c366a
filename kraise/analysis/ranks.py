"""Ranks: ``rank[i]``, the number of elements before element i in an order, takes each value once.

``sum_(0 <= j < n) (x[j] < x[i] or x[j] == x[i] and j < i)``: the order is that of the keys, of equal ones that of their
places, so of two elements one is before the other, and all that are before the first are before the second, too. Any
spelling of the condition is taken: it is tried out for each order of two keys and two places.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from kraise.analysis.conditions import negate
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, substitute, topological

ANSWERS = {  # by the sign of the difference
    "lt": lambda sign: sign < 0,
    "le": lambda sign: sign <= 0,
    "gt": lambda sign: sign > 0,
    "ge": lambda sign: sign >= 0,
    "eq": lambda sign: sign == 0,
    "ne": lambda sign: sign != 0,
}


@dataclass(frozen=True)
class Rank:
    """The rank of element ``index`` among those of ``axis``, by ``key`` (of the axis's index)."""

    index: str
    axis: eq.Axis
    key: eq.Expr


class _Unknown(Exception):
    """The condition asks something else."""


def rank(e: eq.Expr, path: tuple[eq.Expr, ...]) -> Rank | None:
    """``e`` as a rank, where ``path`` says that the element is among those that are counted; None if it is none."""
    if not isinstance(e, eq.Reduce) or e.op != "add" or len(e.axes) != 1 or not e.type.is_integer:
        return None
    (axis,) = e.axes
    kept = counted(e.body)
    if axis.step != 1 or kept is None or not all(map(lasting, topological((e,)))):
        return None
    conditions = [c for c in (kept, e.where) if c is not None]
    for name in sorted(free_indices(e)):
        order = _Order(eq.Index(axis.name, INT), eq.Index(name, INT))
        if order.is_total(conditions) and _among(name, axis, path):
            assert order.key is not None
            return Rank(name, axis, order.key)
    return None


def ranks_of(subscripts: tuple[eq.Expr, ...], path: tuple[eq.Expr, ...]) -> dict[eq.Expr, Rank]:
    """The ranks in subscripts."""
    found = {a: rank(a, path) for s in subscripts for a in to_poly(s).atoms() if isinstance(a, eq.Reduce)}
    return {a: r for a, r in found.items() if r is not None}


def ranked(space: Any, a: Any, b: Any, names_a: Any, names_b: Any) -> None:
    """Numbers for the ranks in the subscripts of two accesses: equal only where the elements are the same."""
    sides = []
    for access, rename in ((a, names_a), (b, names_b)):
        ranks = ranks_of(access.subscripts, access.path)
        for atom in ranks:
            space.elements[atom, rename.suffix] = space.variable(f"element {len(space.elements)}")
        sides.append(ranks)
    for atom, r in sides[0].items():
        if atom not in sides[1]:
            continue
        one, other = (space.elements[atom, names.suffix] for names in (names_a, names_b))
        apart = [f"{one} != {other}"]
        for n in sorted(free_indices(atom) - {r.index}):  # of another row, say, nothing is known
            apart.append(f"{space.variable(names_a.get(n, n))} != {space.variable(names_b.get(n, n))}")
        i, j = (space.variable(names.get(r.index, r.index)) for names in (names_a, names_b))
        space.constraints.append(f"({i} = {j} and {one} = {other} or {' or '.join(apart)})")


def counted(body: eq.Expr) -> eq.Expr | None:
    """The condition under which ``body`` is 1, and 0 elsewhere."""
    match body:
        case eq.Const(value=v) if v == 1:
            return eq.Const(True, BOOL)
        case eq.Op(name="select", args=(c, eq.Const(value=v), eq.Const(value=w))) if (v, w) == (1, 0):
            return c
        case eq.Op(name="select", args=(c, eq.Const(value=v), eq.Const(value=w))) if (v, w) == (0, 1):
            return eq.Op("not", (c,), BOOL)
        case eq.Op(name="select", args=(c, inner, eq.Const(value=w))) if w == 0:
            kept = counted(inner)
            return None if kept is None else eq.Op("and", (c, kept), BOOL)
        case eq.Op(name="sub", args=(eq.Const(value=1), c)) if c.type.is_integer:
            kept = counted(c)
            return None if kept is None else negate(kept)
        case eq.Op(name="and_", args=(c, eq.Const(value=1))) if c.type.is_integer:
            return eq.Op("ne", (body, eq.Const(0, body.type)), BOOL)
        case eq.Cast(arg=c) if c.type.kind == "bool":
            return c
        case eq.Cast(type=t, arg=c) if t.is_integer and (t.bits or 32) >= 32 and c.type.is_integer:
            return counted(c)
    return body if body.type.kind == "bool" else None


def lasting(e: eq.Expr) -> bool:
    """Whether ``e`` is no value of one round of a loop: the keys are the same for all that are asked."""
    return not isinstance(e, eq.CarryIn | eq.FoldResult) and (not isinstance(e, eq.Read) or e.version.number == 0)


def _among(name: str, axis: eq.Axis, path: tuple[eq.Expr, ...]) -> bool:
    from kraise.analysis.dependence import nonnegative  # which asks for ranks

    place = to_poly(eq.Index(name, INT))
    return nonnegative(path, place - to_poly(axis.lo)) and nonnegative(path, to_poly(axis.hi) - place - 1)


@dataclass
class _Order:
    """A condition on an element ``other`` and the element ``own``."""

    other: eq.Index
    own: eq.Index
    key: eq.Expr | None = None

    def is_total(self, conditions: list[eq.Expr]) -> bool:
        """Whether they say that the other is before the own, by key and then by place, in one direction each."""
        signs = [(k, p) for k, p in product((-1, 0, 1), repeat=2) if p or not k]
        try:
            before = {(k, p): all(self.holds(c, k, p) for c in conditions) for k, p in signs}
        except _Unknown:
            return False
        if self.key is None:
            return False
        return any(
            all(held == (k == s or (k == 0 and p == t)) for (k, p), held in before.items())
            for s, t in product((-1, 1), repeat=2)
        )

    def holds(self, c: eq.Expr, key: int, place: int) -> bool:
        """``c`` where the other's key and place are less than (-1), equal to or greater than the own ones."""
        match c:
            case eq.Const(value=v):
                return bool(v)
            case eq.Op(name="and" | "or" as name, args=(a, b)):
                parts = self.holds(a, key, place), self.holds(b, key, place)
                return all(parts) if name == "and" else any(parts)
            case eq.Op(name="not", args=(a,)):
                return not self.holds(a, key, place)
            case eq.Op(name="select", args=(a, x, y)):
                one, two = self.holds(x, key, place), self.holds(y, key, place)
                return one if self.holds(a, key, place) else two
            case eq.Op(name=name, args=(x, y)) if name in ANSWERS:
                by = self.place(x, y, place)
                if by is not None:
                    held = {ANSWERS[name](d) for d in by}
                    if len(held) != 1:
                        raise _Unknown
                    return held.pop()
                if self.is_key(x) and substitute(x, {self.other: self.own}) is y:
                    return ANSWERS[name](key)
                if self.is_key(y) and substitute(y, {self.other: self.own}) is x:
                    return ANSWERS[name](-key)
        raise _Unknown

    def place(self, x: eq.Expr, y: eq.Expr, place: int) -> list[int] | None:
        """What ``x - y`` may be, nearest and furthest, if it is the distance of the places and a number."""
        if not (x.type.is_integer and y.type.is_integer):
            return None
        gap = to_poly(x) - to_poly(y)
        sign = gap.coefficient(self.other).value if self.other in gap.atoms() else None
        if sign not in (1, -1) or gap.coefficient(self.own).value != -sign or self.own not in gap.atoms():
            return None
        offset = (gap - to_poly(self.other) * sign + to_poly(self.own) * sign).value
        return None if offset is None else [sign * place * far + offset for far in (1, 2, 1 << 40)]

    def is_key(self, e: eq.Expr) -> bool:
        """Whether ``e`` is the other's key: one and the same throughout."""
        free = free_indices(e)
        if self.other.name not in free or self.own.name in free or (self.key is not None and self.key is not e):
            return False
        self.key = e
        return True


__all__ = ["ANSWERS", "Rank", "counted", "lasting", "rank", "ranked", "ranks_of"]
