"""Places that searches give: ``i + lower_bound(b, a[i])`` takes each value once where ``a`` is sorted.

The place that a search finds for a number never comes before the one that it finds for a smaller number, so along an
array that never decreases it never decreases either, and with the element's own place added it grows: the elements of
two sorted arrays are merged so, each by its rank in the other. Of ``a[i]`` and ``b[j]`` the one that comes first has at
most the other's place as its rank, and the other's rank is beyond the place of the first (Shiloach and Vishkin,
J. Algorithms 2(1), 1981).
"""

from __future__ import annotations

from typing import Any

from kraise.analysis.poly import to_poly
from kraise.analysis.ranks import lasting
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import free_indices, topological


def looked_up(e: eq.Expr) -> eq.Read | None:
    """The load ``a[i]`` (or ``a[i - n]``) of an argument that a search of another array looks up; None if ``e`` is none
    of this kind."""
    e = _bare(e)
    if not isinstance(e, eq.ArgReduce) or e.op != "bisect" or not all(map(lasting, topological((e,)))):
        return None
    match e.body:
        case eq.Op(name="lt" | "le", args=(found, eq.Read(subscripts=(place,)) as read)):
            free = free_indices(found) | free_indices(e.axis.lo) | free_indices(e.axis.hi) | {e.axis.name}
            if e.where is not None:
                free |= free_indices(e.where)
            own = free_indices(place)
            return read if own and not own & free and not read.view else None
    return None


def _bare(e: eq.Expr) -> eq.Expr:
    """Without casts that keep any place in an array."""
    while isinstance(e, eq.Cast) and e.type.is_integer and (e.type.bits or 32) >= 32:
        e = e.arg
    return e


def lookups(subscripts: tuple[eq.Expr, ...]) -> dict[eq.Expr, eq.Read]:
    """Such searches in subscripts, with what they look up."""
    atoms = dict.fromkeys(a for s in subscripts for a in to_poly(s).atoms())
    return {a: read for a in atoms if (read := looked_up(a)) is not None}


def ascending(space: Any, a: Any, b: Any, names_a: Any, names_b: Any, sorted_: frozenset[str]) -> None:
    """Numbers for the searches in the subscripts of two accesses: the further on in a sorted array, the larger."""
    sides = []
    for access, rename in ((a, names_a), (b, names_b)) if sorted_ else ():
        found = {e: r for e, r in lookups(access.subscripts).items() if r.version.array in sorted_}
        for atom in found:
            space.elements[atom, rename.suffix] = space.variable(f"element {len(space.elements)}")
        sides.append(found)
    if not sides:
        return
    for atom, read in sides[0].items():
        for rival, sought in sides[1].items():
            space.constraints += _merged(space, (atom, read, names_a), (rival, sought, names_b))
    for atom, read in sides[0].items():
        if atom not in sides[1]:
            continue
        one, other = (space.elements[atom, names.suffix] for names in (names_a, names_b))
        i, j = (space.poly(to_poly(read.subscripts[0]), names) for names in (names_a, names_b))
        if i is None or j is None:
            continue
        order = [f"({i} <= {j} and {one} <= {other})", f"({i} >= {j} and {one} >= {other})"]
        for n in sorted(free_indices(atom) - free_indices(read.subscripts[0])):  # of another row, say, nothing is known
            order.append(f"{space.variable(names_a.get(n, n))} != {space.variable(names_b.get(n, n))}")
        space.constraints.append(f"({' or '.join(order)})")


def _merged(space: Any, one: tuple[eq.Expr, eq.Read, Any], other: tuple[eq.Expr, eq.Read, Any]) -> list[str]:
    """What the places of ``a[i]`` among b and of ``b[j]`` among a say of each other, if one of the two searches goes
    before equal elements and the other one behind them."""
    ranges, places, names, strict, arrays = [], [], [], [], []
    for atom, read, rename in (one, other):
        search, (place,) = _bare(atom), read.subscripts
        assert isinstance(search, eq.ArgReduce) and isinstance(search.body, eq.Op)
        found = search.body.args[0]
        whole = isinstance(found, eq.Read) and found.subscripts == (eq.Index(search.axis.name, INT),) and not found.view
        if not whole or search.where is not None or to_poly(search.axis.lo).value != 0:
            return []
        assert isinstance(found, eq.Read)
        top, at = space.poly(to_poly(search.axis.hi), rename), space.poly(to_poly(place), rename)
        if top is None or at is None:
            return []
        ranges.append(top)
        names.append(at)
        places.append(space.elements[atom, rename.suffix])
        strict.append(search.body.name)
        arrays.append((found.version, read.version))
    if arrays[0] != arrays[1][::-1] or sorted(strict) != ["le", "lt"]:
        return []
    (i, j), (p, q) = names, places
    outside = f"{i} < 0 or {i} >= {ranges[1]} or {j} < 0 or {j} >= {ranges[0]}"
    return [f"({outside} or ({p} > {j} and {q} <= {i}) or ({p} <= {j} and {q} > {i}))"]


__all__ = ["ascending", "looked_up", "lookups"]
