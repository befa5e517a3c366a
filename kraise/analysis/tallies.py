"""Running counts: ``place[i]``, the number of kept elements before element i, takes each value once among those kept.

``place = cumsum(keep) - 1; if keep: out[place] = x`` stores each kept element to a cell of its own: of two of them the
later one has counted the earlier one, too. What is counted is one where ``keep`` holds and nothing elsewhere, so the
count never decreases, and it grows at every element for which the path of the store says ``keep`` (Blelloch, "Prefix
sums and their applications", 1990, of which stream compaction is the first).
"""

from __future__ import annotations

from typing import Any

from kraise.analysis.conditions import conjuncts
from kraise.analysis.poly import to_poly
from kraise.analysis.ranks import counted, lasting
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import free_indices, topological


def tallies(subscripts: tuple[eq.Expr, ...], path: tuple[eq.Expr, ...]) -> list[eq.Scan]:
    """The running counts in subscripts that grow at each element under ``path``."""
    atoms = dict.fromkeys(a for s in subscripts for a in to_poly(s).atoms() if isinstance(a, eq.Scan))
    return [a for a in atoms if _grows(a, path)]


def _grows(e: eq.Scan, path: tuple[eq.Expr, ...]) -> bool:
    if e.op != "add" or e.other is not None or not e.type.is_integer or e.axis.step != 1:
        return False
    if (e.type.bits or 32) < 32:
        return False  # a count of 8 bits wraps round
    kept = counted(e.body)
    if kept is None or e.axis.name in free_indices(e.init) or not all(map(lasting, topological((e,)))):
        return False
    said = {c for p in path for c in conjuncts(p)}
    return all(c in said for c in conjuncts(kept))


def tallied(space: Any, a: Any, b: Any, names_a: Any, names_b: Any) -> None:
    """Numbers for the running counts in the subscripts of two accesses: the further on, the larger; no more of them
    than elements so far."""
    sides = []
    for access, rename in ((a, names_a), (b, names_b)):
        found = tallies(access.subscripts, access.path)
        for atom in found:
            number = space.elements[atom, rename.suffix] = space.variable(f"element {len(space.elements)}")
            index, lo, hi = to_poly(eq.Index(atom.axis.name, INT)), to_poly(atom.axis.lo), to_poly(atom.axis.hi)
            own = 1 if atom.inclusive else 0
            before = hi - index - 1 if atom.reverse else index - lo
            least, most = to_poly(atom.init) + own, to_poly(atom.init) + own + before
            for bound, sign in ((least, ">="), (most, "<=")):
                text = space.poly(bound, rename)
                space.constraints += [] if text is None else [f"{number} {sign} {text}"]
        sides.append(found)
    for atom in sides[0]:
        if atom not in sides[1]:
            continue
        one, other = (space.elements[atom, names.suffix] for names in (names_a, names_b))
        apart = []
        for n in sorted(free_indices(atom) - {atom.axis.name}):  # of another row, say, nothing is known
            apart.append(f"{space.variable(names_a.get(n, n))} != {space.variable(names_b.get(n, n))}")
        i, j = (space.variable(names.get(atom.axis.name, atom.axis.name)) for names in (names_a, names_b))
        i, j = (j, i) if atom.reverse else (i, j)
        order = [f"({i} < {j} and {one} < {other})", f"({i} > {j} and {one} > {other})"]
        space.constraints.append(f"({' or '.join([*order, f'({i} = {j} and {one} = {other})', *apart])})")


__all__ = ["tallied", "tallies"]
