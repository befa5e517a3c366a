"""Running counts: ``place[i]``, the number of kept elements before element i, takes each value once among those kept.

``place = cumsum(keep) - 1; if keep: out[place] = x`` stores each kept element to a cell of its own: of two of them the
later one has counted the earlier one, too. What is counted is one where ``keep`` holds and nothing elsewhere, so the
count never decreases, and it grows at every element for which the path of the store says ``keep`` (Blelloch, "Prefix
sums and their applications", 1990, of which stream compaction is the first). A thread that counts for itself
(``for j in range(i): if keep(j): place += 1``) has the same number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kraise.analysis.conditions import conjunction, conjuncts, negate
from kraise.analysis.poly import Poly, to_poly
from kraise.analysis.ranks import counted, lasting
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import free_indices, substitute, topological


@dataclass(frozen=True)
class Tally:
    """A running count that grows at element ``index``: the least that it is there, and the most."""

    index: str
    least: Poly
    most: Poly
    reverse: bool = False


def tallies(subscripts: tuple[eq.Expr, ...], path: tuple[eq.Expr, ...]) -> dict[eq.Expr, Tally]:
    """The running counts in subscripts that grow at each element under ``path``."""
    found: dict[eq.Expr, Tally] = {}
    for atom in dict.fromkeys(a for s in subscripts for a in to_poly(s).atoms()):
        count = atom
        while isinstance(count, eq.Cast) and count.type.is_integer and (count.type.bits or 32) >= 32:
            count = count.arg  # there are fewer elements than that holds
        known = _running(count, path) if isinstance(count, eq.Scan) else _own(count, path)
        if known is not None:
            found[atom] = known
    return found


def _running(e: eq.Scan, path: tuple[eq.Expr, ...]) -> Tally | None:
    if e.op != "add" or e.other is not None or not e.type.is_integer or e.axis.step != 1:
        return None
    if (e.type.bits or 32) < 32:
        return None  # a count of 8 bits wraps round
    kept = counted(e.body)
    if kept is None or e.axis.name in free_indices(e.init) or not all(map(lasting, topological((e,)))):
        return None
    if not said(kept, path):
        return None
    index, own = to_poly(eq.Index(e.axis.name, INT)), 1 if e.inclusive else 0
    before = to_poly(e.axis.hi) - index - 1 if e.reverse else index - to_poly(e.axis.lo)
    least = to_poly(e.init) + own
    return Tally(e.axis.name, least, least + before, e.reverse)


def _own(e: eq.Expr, path: tuple[eq.Expr, ...]) -> Tally | None:
    """The elements kept before a thread's own, or up to it, as that thread counts them."""
    if not isinstance(e, eq.Reduce) or e.op != "add" or not e.type.is_integer or (e.type.bits or 32) < 32:
        return None
    kept = counted(e.body)
    if kept is None or len(e.axes) != 1 or e.axes[0].step != 1 or not all(map(lasting, topological((e,)))):
        return None
    (axis,), conditions = e.axes, [*conjuncts(kept), *(() if e.where is None else conjuncts(e.where))]
    other = eq.Index(axis.name, INT)
    for name in sorted(free_indices(e)):
        own = eq.Index(name, INT)
        ends = [(c, n) for c in conditions if (n := up_to(c, other, own)) is not None]
        last = (to_poly(axis.hi) - to_poly(own)).value
        limits = [n for _, n in ends] + ([last] if last is not None else [])
        rest = [c for c in conditions if c not in {c for c, _ in ends}]
        if not limits or min(limits) not in (0, 1) or any(name in free_indices(c) for c in rest):
            continue
        place, ahead = to_poly(own) - to_poly(axis.lo), to_poly(axis.hi) - to_poly(own) - min(limits)
        if name in free_indices(axis.lo) or not _within(path, place) or (last is None and not _within(path, ahead)):
            continue
        here = conjunction([substitute(c, {other: own}) for c in rest])
        if here is None or said(here, path):
            least = Poly({(): min(limits)})
            return Tally(name, least, least + place)
    return None


def _within(path: tuple[eq.Expr, ...], distance: Poly) -> bool:
    from kraise.analysis.dependence import nonnegative  # which asks for tallies

    return nonnegative(path, distance)


def up_to(c: eq.Expr, other: eq.Index, own: eq.Index) -> int | None:
    """0 for ``other < own``, 1 for ``other <= own``."""
    match c:
        case eq.Op(name="lt" | "le" as name, args=(a, b)) | eq.Op(name="gt" | "ge" as name, args=(b, a)):
            gap = (to_poly(b) - to_poly(own)).value if to_poly(a) == to_poly(other) else None
            return None if gap is None else gap + (name in ("le", "ge"))
    return None


def said(condition: eq.Expr, path: tuple[eq.Expr, ...]) -> bool:
    """Whether a path says that a condition holds, in as many words or of a number that is one where it does."""
    stated = {c for p in path for c in conjuncts(p)}
    for p in list(stated):
        match p:
            case eq.Op(name=name, args=(a, eq.Const(value=int() as v))) if name in _ANSWERS:
                kept = counted(a)
                if kept is not None and _ANSWERS[name](1, v) != _ANSWERS[name](0, v):
                    stated |= {*conjuncts(kept if _ANSWERS[name](1, v) else negate(kept))}
    return all(c in stated for c in conjuncts(condition))


_ANSWERS = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def tallied(space: Any, a: Any, b: Any, names_a: Any, names_b: Any) -> None:
    """Numbers for the running counts in the subscripts of two accesses: the further on, the larger; no more of them
    than elements so far."""
    sides = []
    for access, rename in ((a, names_a), (b, names_b)):
        found = tallies(access.subscripts, access.path)
        for atom, tally in found.items():
            number = space.elements[atom, rename.suffix] = space.variable(f"element {len(space.elements)}")
            for bound, sign in ((tally.least, ">="), (tally.most, "<=")):
                text = space.poly(bound, rename)
                space.constraints += [] if text is None else [f"{number} {sign} {text}"]
        sides.append(found)
    for atom, tally in sides[0].items():
        if atom not in sides[1]:
            continue
        one, other = (space.elements[atom, names.suffix] for names in (names_a, names_b))
        apart = []
        for n in sorted(free_indices(atom) - {tally.index}):  # of another row, say, nothing is known
            apart.append(f"{space.variable(names_a.get(n, n))} != {space.variable(names_b.get(n, n))}")
        i, j = (space.variable(names.get(tally.index, tally.index)) for names in (names_a, names_b))
        i, j = (j, i) if tally.reverse else (i, j)
        order = [f"({i} < {j} and {one} < {other})", f"({i} > {j} and {one} > {other})"]
        space.constraints.append(f"({' or '.join([*order, f'({i} = {j} and {one} = {other})', *apart])})")


__all__ = ["Tally", "said", "tallied", "tallies", "up_to"]
