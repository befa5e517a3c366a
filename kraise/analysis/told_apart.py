"""What arrays hold tells two accesses apart: different elements of an injective array, different rows of segments.

Stated in the isl set of a question (:class:`kraise.analysis.dependence.Space`), each side under its own names.
"""

from __future__ import annotations

from typing import Any

from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq


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
    """Segments of one array that does not decrease: a larger index belongs to the same segment or a later one."""
    from kraise.analysis.segments import segments  # which asks for dependences

    for s in segments(a.path):
        for t in segments(b.path):
            if s.pointer.version is not t.pointer.version or s.shift != t.shift:
                continue
            row_s, row_t = space.poly(s.row, names_a), space.poly(t.row, names_b)
            if row_s is None or row_t is None:
                continue
            i = space.variable(names_a.get(s.index, s.index))
            j = space.variable(names_b.get(t.index, t.index))
            space.constraints.append(
                f"(({i} < {j} and {row_s} <= {row_t}) or ({i} > {j} and {row_s} >= {row_t})"
                f" or ({i} = {j} and {row_s} = {row_t}))"
            )
