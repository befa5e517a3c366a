"""One load for what several stores have put into a tile: that of the inner cells is carried over to the rim.

``s[t + 1] = i < n ? x[i] : 0`` by all threads, ``s[0]`` and ``s[17]`` by those at the edges: where the loads at the
edges are that of the inner cells, moved on, there is one load under one guard. The guards at the edges are said of all
threads: what is zero at an edge is added to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kraise.analysis.conditions import classify, conjunction, conjuncts, negate
from kraise.analysis.dependence import implied
from kraise.analysis.poly import Poly, to_expr
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.raising.memory.edges import for_rows, same_place
from kraise.raising.run import simplify

Path = tuple[eq.Expr, ...]
Guarded = tuple[Path, eq.Expr, eq.Expr]  # what must hold, the value then, and the constant otherwise


def spread(path: Path, conditions: Iterable[eq.Expr], a: eq.Expr, b: eq.Expr) -> eq.Expr | None:
    """``a if conditions else b`` as the one load of ``a`` or of ``b``, under more guards; None if there is none."""
    inside = conjunction(tuple(conditions))
    if inside is None:
        return None
    there, elsewhere = (*path, *conjuncts(inside)), (*path, *conjuncts(negate(inside)))
    return _over(there, a, elsewhere, b) or _over(elsewhere, b, there, a)


def guarded(e: eq.Expr) -> Guarded:
    """``x if guard else constant``."""
    match e:
        case eq.Op(name="select", args=(c, x, eq.Const() as zero)):
            return conjuncts(c), x, zero
        case eq.Op(name="select", args=(c, eq.Const() as zero, x)):
            return conjuncts(negate(c)), x, zero
    return (), e, e


def _over(inner: Path, whole: eq.Expr, outer: Path, part: eq.Expr) -> eq.Expr | None:
    """The load of ``whole``, which counts where ``inner`` holds, for ``part`` as well, which counts where ``outer``
    does."""
    guards, load, zero = guarded(whole)
    if not isinstance(load, eq.Read):
        return None
    regions, loads = [inner], []
    for leaf, value in _leaves(outer, part):
        found = _joint(regions, guards, load, zero, leaf, guarded(value))
        if found is None:
            return None
        guards, zero = found
        regions.append(leaf)
        loads.append((*leaf, *guarded(value)[0]))
    for leaf in loads:
        load = for_rows(leaf, load)
    held = conjunction(guards)
    return load if held is None else simplify.select(held, load, zero, load.type)


def _leaves(path: Path, e: eq.Expr) -> Iterator[tuple[Path, eq.Expr]]:
    """What a choice of choices may be, and where."""
    match e:
        case eq.Op(name="select", args=(c, a, b)) if not isinstance(a, eq.Const) and not isinstance(b, eq.Const):
            yield from _leaves((*path, *conjuncts(c)), a)
            yield from _leaves((*path, *conjuncts(negate(c))), b)
        case _:
            yield path, e


def _joint(
    regions: list[Path], guards: Path, load: eq.Read, zero: eq.Expr, leaf: Path, part: Guarded
) -> tuple[Path, eq.Expr] | None:
    """Guards for the load of the ``regions`` and the leaf's alike, and what stands outside: in each of them they say
    what its own guards say."""
    own, other, outside = part
    if not isinstance(other, eq.Read) or other.version is not load.version:
        return None
    if not same_place((*leaf, *own), load, other) or (guards and own and zero is not outside):
        return None
    if not all(implied((*leaf, *own), g) for g in guards):
        return None
    found = list(guards)
    for guard in own:
        if implied((*leaf, *found), guard):
            continue
        moved = next((m for m in _moved(leaf, guard) if all(implied((*r, *guards), m) for r in regions)), None)
        if moved is None or not implied((*leaf, *found, moved), guard) or not implied((*leaf, *own), moved):
            return None
        found.append(moved)
    return tuple(found), zero if guards else outside


def _moved(leaf: Path, guard: eq.Expr) -> Iterator[eq.Expr]:
    """The guard, and what is the same in the leaf: what is zero there is added to it."""
    yield guard
    fact = classify(guard)
    if fact is None or fact.kind != "ge":
        return
    for c in reversed(leaf):
        for part in (c, *_denied(c)):
            at = classify(part)
            if at is None or at.kind == "ne":
                continue
            for zero in (at.poly, at.poly + 1) if at.kind == "ge" else (at.poly,):
                if zero.indices() and implied(leaf, eq.Op("eq", (to_expr(zero), eq.Const(0, INT)), BOOL)):
                    yield from (_nonnegative(fact.poly + zero), _nonnegative(fact.poly - zero))


def _denied(c: eq.Expr) -> Path:
    match c:
        case eq.Op(name="not", args=(eq.Op(name="and", args=parts),)):
            return parts
    return ()


def _nonnegative(poly: Poly) -> eq.Expr:
    return eq.Op("ge", (to_expr(poly), eq.Const(0, INT)), BOOL)


__all__ = ["guarded", "spread"]
