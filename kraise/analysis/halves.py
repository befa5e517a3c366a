"""Elements that are parted in two, each kind in order: ``keep ? rank : total + i - rank`` takes each value once.

``rank`` counts the kept elements before element i, ``i - rank`` those that are not kept, ``total`` all that are kept
(the split of a radix sort; Harris, Sengupta and Owens, "Parallel prefix sum with CUDA", 2007). Of two kept elements the
later one has the larger rank, of two others the larger ``i - rank``; a rank is less than the total, and there are no
more of the others than elements without it. Each is asked in the cases of the choice, whose conditions say which kind
an element is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from kraise.analysis.conditions import conjunction, conjuncts, negate
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.analysis.ranks import counted, lasting
from kraise.analysis.tallies import said, up_to
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import free_indices, substitute, topological

_ANY = eq.Index("$kept", INT)
_MOST = 12  # terms of a subscript


@dataclass(frozen=True)
class _Count:
    """The elements of ``lo`` to ``hi`` for which ``kept`` holds (of the index ``$kept``): those before element
    ``index``, with it where ``own`` is 1, or all of them where there is none."""

    kept: eq.Expr
    lo: eq.Expr
    hi: eq.Expr
    index: str = ""
    own: int = 0

    @property
    def whole(self) -> _Count:
        return replace(self, index="", own=0)


def cases(a: Any) -> list[Any]:
    """An access whose subscript is one of two numbers, as one access for each; itself where it is no such."""
    for at, s in enumerate(a.subscripts):
        poly = to_poly(s)
        for atom in poly.atoms():
            match _signed(atom):
                case eq.Op(name="select", args=(c, x, y)) if poly.coefficient(atom).value is not None:
                    return [
                        replace(a, subscripts=(*a.subscripts[:at], arm, *a.subscripts[at + 1 :]), path=(*a.path, *more))
                        for value, more in ((x, conjuncts(c)), (y, conjuncts(negate(c))))
                        for arm in (to_expr(poly.substitute(atom, to_poly(value))),)
                    ]
    return [a]


def _signed(e: eq.Expr) -> eq.Expr:
    """Sums of a few unsigned indices and counts as signed ones: none of these is near the end of its type, and a
    subscript is not negative."""
    leaves = 0

    def plain(x: eq.Expr) -> eq.Expr | None:
        nonlocal leaves
        match x:
            case eq.Op(name="select", args=(c, a, b)):
                one, other = plain(a), plain(b)
                return None if one is None or other is None else eq.Op("select", (c, one, other), INT)
            case eq.Op(name="add" | "sub" as name, args=(a, b), type=t) if (t.bits or 32) >= 32:
                one, other = plain(a), plain(b)
                return None if one is None or other is None else eq.Op(name, (one, other), INT)
            case eq.Cast(type=t, arg=a) if t.is_integer and a.type.is_integer and (t.bits or 32) >= 32:
                return plain(a)
        leaves += 1
        small = isinstance(x, eq.Const) and isinstance(x.value, int) and 0 <= x.value < 1 << 16
        return x if small or isinstance(x, eq.Index) or counted(bare(x)) is not None or _count(x) is not None else None

    found = plain(e)
    return e if found is None or leaves > _MOST else found


def bare(e: eq.Expr) -> eq.Expr:
    """A count without conversions: there are fewer elements than 32 bits hold."""
    while isinstance(e, eq.Cast) and e.type.is_integer and (e.type.bits or 32) >= 32 and e.arg.type.kind == "int":
        e = e.arg
    return e


def _counts(subscripts: tuple[eq.Expr, ...], rounds: bool) -> Iterator[tuple[eq.Expr, _Count]]:
    for atom in dict.fromkeys(a for s in subscripts for a in to_poly(s).atoms()):
        found = _count(atom)
        if found is not None and (rounds or all(map(lasting, topological((atom,))))):
            yield atom, found


def _count(atom: eq.Expr) -> _Count | None:
    e = bare(atom)
    if not (isinstance(e, eq.Scan | eq.Reduce) and e.op == "add" and e.type.is_integer and (e.type.bits or 32) >= 32):
        return None
    return _running(e) if isinstance(e, eq.Scan) else _of(e)


def _running(e: eq.Scan) -> _Count | None:
    kept, first = counted(e.body), isinstance(e.init, eq.Const) and e.init.value == 0
    if kept is None or not first or e.other is not None or e.reverse or e.axis.step != 1:
        return None
    kept = substitute(kept, {eq.Index(e.axis.name, INT): _ANY})
    return _Count(kept, e.axis.lo, e.axis.hi, e.axis.name, int(e.inclusive))


def _of(e: eq.Reduce) -> _Count | None:
    kept = counted(e.body)
    if kept is None or len(e.axes) != 1 or e.axes[0].step != 1:
        return None
    (axis,), every = e.axes, [*conjuncts(kept), *(() if e.where is None else conjuncts(e.where))]
    other = eq.Index(axis.name, INT)
    ends = [
        (c, n, at)
        for c in every
        for n in sorted(free_indices(e))
        if (at := up_to(c, other, eq.Index(n, INT))) in (0, 1)
    ]
    if len(ends) > 1:
        return None
    rest = conjunction([c for c in every if c not in {c for c, *_ in ends}])
    if rest is None or any(n in free_indices(rest) for _, n, _ in ends):
        return None
    (_, index, own) = ends[0] if ends else (None, "", 0)
    return _Count(substitute(rest, {other: _ANY}), axis.lo, axis.hi, index, own or 0)


@dataclass(frozen=True)
class _Rank:
    """A count before an element in one access: how many it is less the element itself, where that is, and whether it is
    kept, in isl's syntax."""

    before: str
    place: str
    kept: bool


def parted(space: Any, a: Any, b: Any, names_a: Any, names_b: Any) -> None:
    """What the ranks in the subscripts of two accesses say of each other."""
    rounds = names_a.same.rounds
    sides = [(x, names, dict(_counts(x.subscripts, rounds))) for x, names in ((a, names_a), (b, names_b))]
    every = {count for *_, found in sides for count in found.values()}
    for rank in [c for c in dict.fromkeys(every) if c.index and all(c in found.values() for *_, found in sides)]:
        pair = [_rank(space, x, names, found, rank) for x, names, found in sides]
        if pair[0] is None or pair[1] is None:
            continue
        one, other = pair[0], pair[1]
        free = sorted(free_indices(rank.kept) | free_indices(rank.lo) | free_indices(rank.hi))
        apart = [
            f"{space.variable(names_a.get(n, n))} != {space.variable(names_b.get(n, n))}"
            for n in free
            if n not in (_ANY.name, rank.index)
        ]
        orders = [
            _order(one, other),
            _order(other, one),
            f"{one.place} = {other.place} and {one.before} = {other.before}",
        ]
        space.constraints.append("(" + " or ".join([*(f"({o})" for o in orders), *apart]) + ")")
        totals = []
        for side, (_, names, found) in zip((one, other), sides, strict=True):
            if rank.whole in every:
                totals.append(_total(space, names, found, rank, side))
        if totals:
            space.constraints.append("(" + " or ".join([f"{totals[0]} = {totals[1]}", *apart]) + ")")


def _rank(space: Any, x: Any, names: Any, found: dict[eq.Expr, _Count], rank: _Count) -> _Rank | None:
    atom = next(n for n, count in found.items() if count == rank)
    own = substitute(rank.kept, {_ANY: eq.Index(rank.index, INT)})
    kept = said(own, x.path)
    if kept is said(negate(own), x.path):
        return None
    place = to_poly(eq.Index(rank.index, INT)) - to_poly(rank.lo)
    texts = [space.poly(p, names) for p in (place, to_poly(rank.hi) - to_poly(rank.lo) - place - 1)]
    if None in texts or not _inside(x.path, place, rank):
        return None
    key = atom, names.suffix
    number = space.elements.get(key) or space.elements.setdefault(key, space.variable(f"element {len(space.elements)}"))
    before = f"({number} - {rank.own if kept else 0})"
    space.constraints += [f"{before} >= 0", f"{before} <= {texts[0]}"]
    return _Rank(before, f"({texts[0]})", kept)


def _inside(path: tuple[eq.Expr, ...], place: Poly, rank: _Count) -> bool:
    from kraise.analysis.dependence import nonnegative  # which asks for ranks

    last = to_poly(rank.hi) - to_poly(rank.lo) - place - 1
    return nonnegative(path, place) and nonnegative(path, last)


def _order(one: _Rank, other: _Rank) -> str:
    """What is counted from the one element on to the other, a later one."""
    gap = f"{other.before} - {one.before}"
    most = f"{other.place} - {one.place} - {int(not one.kept)}"
    return f"{one.place} < {other.place} and {gap} >= {int(one.kept)} and {gap} <= {most}"


def _total(space: Any, names: Any, found: dict[eq.Expr, _Count], rank: _Count, own: _Rank) -> str:
    """The number of all that are kept: no less than those up to an element, nor more than leave room for the others."""
    atoms = [n for n, count in found.items() if count == rank.whole]
    number = str(space.variable(f"total {rank.whole} {names.suffix}"))
    for n in atoms:
        space.elements[n, names.suffix] = number
    extent = space.poly(to_poly(rank.hi) - to_poly(rank.lo), names)
    others = f"{own.place} - {own.before} + {int(not own.kept)}"
    space.constraints += [f"{own.before} + {int(own.kept)} <= {number}", f"{others} <= {extent} - {number}"]
    return number


__all__ = ["cases", "parted"]
