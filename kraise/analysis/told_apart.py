"""What arrays hold tells two accesses apart: different elements of an injective array, different rows of segments.

Stated in the isl set of a question (:class:`kraise.analysis.dependence.Space`), each side under its own names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.walk import topological


def different(space: Any, a: Any, b: Any, names_a: Any, names_b: Any, injective: frozenset[str]) -> None:
    """Numbers for the elements of injective arrays that stand in subscripts: equal where the elements are the same."""
    sides: list[list[tuple[eq.Read, str, str]]] = []
    for access, rename in ((a, names_a), (b, names_b)) if injective else ():
        found = []
        for read in dict.fromkeys(n for s in access.subscripts for n in to_poly(s).atoms() if isinstance(n, eq.Read)):
            if read.version.array not in injective or read.version.number or len(read.subscripts) != 1:
                continue
            place = space.poly(to_poly(read.subscripts[0]), rename)
            if place is not None:
                name = space.elements[read, rename.suffix] = space.variable(f"element {len(space.elements)}")
                found.append((read, place, name))
        sides.append(found)
    for read, place, name in sides[0] if sides else ():
        for other, elsewhere, value in sides[1]:
            if read.version is other.version:
                space.constraints.append(f"(({place}) = ({elsewhere}) and {name} = {value} or {name} != {value})")


def disjoint(space: Any, a: Any, b: Any, names_a: Any, names_b: Any) -> None:
    """Segments of one array that does not decrease: what lies in an earlier one, less what its end is shifted by, is
    before what lies in a later one, less what its start is shifted by."""
    from kraise.analysis.segments import spans  # which asks for dependences

    for s in spans(a.path):
        for t in spans(b.path):
            if s.pointer.version is not t.pointer.version:
                continue
            row_s, row_t = space.poly(s.row, names_a), space.poly(t.row, names_b)
            if row_s is None or row_t is None:
                continue
            i = space.variable(names_a.get(s.index, s.index))
            j = space.variable(names_b.get(t.index, t.index))
            space.constraints.append(
                f"(({i} - {s.end} < {j} - {t.start} and {row_s} < {row_t})"
                f" or ({i} - {s.start} > {j} - {t.end} and {row_s} > {row_t}) or {row_s} = {row_t})"
            )


def turned(space: Any, a: Any, b: Any, names_a: Any, names_b: Any, s: eq.Expr, t: eq.Expr) -> tuple[str, str] | None:
    """The texts of two subscripts of which one goes through segments from behind (``ptr[i] + ptr[i + 1] - 1 - k``): as
    far from the end of a segment as k is from its start, it stays in it."""
    if not any(isinstance(n, eq.Read) for n in topological((s, t))):
        return None
    first, second = _in_segment(a, s), _in_segment(b, t)
    if first is None or second is None or not (first.back or second.back):
        return None
    one, other = first.segment, second.segment
    if one.pointer.version is not other.pointer.version or one.shift != other.shift:
        return None
    rows = space.poly(one.row, names_a), space.poly(other.row, names_b)
    if None in rows:
        return None
    k, j = (space.variable(n.get(x.segment.index, x.segment.index)) for n, x in ((names_a, first), (names_b, second)))
    m, n = (space.variable(f"turned {at}") if x.back else v for at, x, v in (("a", first, k), ("b", second, j)))
    same = f" and {m} + {k} = {n} + {j}" if first.back and second.back else ""
    order = f"({rows[0]} < {rows[1]} and {m} < {n}) or ({rows[0]} > {rows[1]} and {m} > {n})"
    space.constraints.append(f"({order} or ({rows[0]} = {rows[1]}{same}))")
    return f"{m} + {first.beyond}", f"{n} + {second.beyond}"


@dataclass(frozen=True)
class _Place:
    """A subscript that is the index of a segment and a number, or as far from the end as that is from the start."""

    segment: Any
    back: bool
    beyond: int


def _in_segment(access: Any, subscript: eq.Expr) -> _Place | None:
    from kraise.analysis.segments import plain, segments  # which asks for dependences

    poly = to_poly(plain(subscript))
    for s in segments(access.path):
        index = next((x for x in poly.atoms() if isinstance(x, eq.Index) and x.name == s.index), None)
        sign = None if index is None else poly.coefficient(index).value
        if index is None or sign not in (1, -1):
            continue
        rest = poly - to_poly(index) * sign
        if sign == 1 and rest.value is not None:
            return _Place(s, False, rest.value)
        ends = [(x, rest.coefficient(x).value) for x in rest.atoms() if isinstance(x, eq.Read)]
        gaps = sorted(_after(x, s.pointer) for x, _ in ends)
        left = rest
        for x, _ in ends:
            left = left - to_poly(x)
        if sign == -1 and gaps == [0, 1] and left.value is not None:
            return _Place(s, True, left.value - 2 * s.shift + 1)
    return None


def _after(read: eq.Read, pointer: eq.Read) -> int:
    """How many entries a load is behind another one of the array; -1 if that is not known."""
    if read.version is not pointer.version or len(read.subscripts) != 1 or read.view:
        return -1
    gap = (to_poly(read.subscripts[0]) - to_poly(pointer.subscripts[0])).value
    return -1 if gap is None else gap
