"""Stores to the partner of a thread, ``y[i ^ c] = …``: each cell takes what its own partner stores.

So it is where the bits of i change places two by two (a reversal of their order).

``i -> i ^ c`` is its own inverse, so the cell ``i`` is stored to by the thread ``i ^ c`` and by no other: the equation
is renamed, and a scatter through index arrays becomes a load. (Measured on eight elements a row of a bitonic network:
a fifth of the time, of the gradient a third.) The side conditions: c names none of the indices of the store, and the
index occurs in no other subscript. What the source says of i holds of ``i ^ c`` then; that ``i ^ c`` is a thread is
left out where the bits of c only mix numbers below a power of two, or where ``i ^ c`` is known to be the smaller one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import Unmovable, free_indices, substitute, topological
from kraise.raising.run.bit_places import involution
from kraise.raising.run.state import ROWS, Raw, RawFold, RawWrite, map_raw

Extent = Callable[[RawWrite, int], eq.Expr | None]


def exchanged(raws: Sequence[Raw], shapes: dict[str, tuple[eq.Expr, ...]], names: dict[eq.Expr, eq.Name]) -> list[Raw]:
    """``raws`` with such stores by their cells; ``shapes`` are those of the arrays that the kernel makes, ``names``
    gets the source's names for what values have become."""
    out: list[Raw] = []
    for r in raws:
        if isinstance(r, RawFold):
            r = replace(r, body=tuple(exchanged(r.body, shapes, names)))
        out.append(_by_cell(r, shapes, names) if isinstance(r, RawWrite) and not r.accumulate else r)
    return out


def mixes(partner: eq.Expr, stop: float | None) -> bool:
    """Whether ``i ^ c`` takes the values 0 ... stop - 1 as i does."""
    low = int(stop or 0) & -int(stop or 0)  # the power of two in it
    if (bits := involution(partner)) is not None:
        return 1 << bits[1] == stop
    match partner:
        case eq.Op(name="xor", args=(eq.Index(), eq.Const(value=c)) | (eq.Const(value=c), eq.Index())):
            return isinstance(c, int) and 0 <= c < low
    return False


def _by_cell(r: RawWrite, shapes: dict[str, tuple[eq.Expr, ...]], names: dict[eq.Expr, eq.Name]) -> RawWrite:
    for at, place in enumerate(r.subscripts):
        found = _partner(place)
        if found is None:
            continue
        index, mate, other = found
        others = r.subscripts[:at] + r.subscripts[at + 1 :]
        extent = _extent(r, at, shapes)
        if index.name not in r.loops or free_indices(other) or extent is None or free_indices(extent):
            continue
        data = any(isinstance(n, eq.Read) for n in topological((other,)))
        if data or any(index.name in free_indices(s) for s in others):
            continue
        turned = {index: place, place: index}
        if mate is not place:  # unsigned: the bits of a number
            bits = next(a for a in mate.args if a is not other)  # type: ignore[union-attr]
            turned |= {mate: bits, bits: mate}

        def fn(e: eq.Expr, turned: dict[eq.Expr, eq.Expr] = turned) -> eq.Expr:
            return substitute(e, turned)

        try:
            moved = map_raw(r, fn)
            own = frozenset(topological((r.value, *r.path)))  # of the names of other stores none is asked for
            called = [replace(n, expr=fn(e)) for e, n in names.items() if e in own and index.name in free_indices(e)]
        except (Unmovable, ValueError):
            continue
        assert isinstance(moved, RawWrite)
        for n in called:
            names.setdefault(n.expr, n)
        return replace(moved, path=_told(moved.path, index, place, mate, extent))
    return r


def _partner(place: eq.Expr) -> tuple[eq.Index, eq.Expr, eq.Expr] | None:
    """The index, ``i ^ c`` (of its bits, where these are unsigned) and c, if the subscript is that."""
    if (reordered := involution(place)) is not None:
        return reordered[0], place, eq.Const(0, INT)
    mate = place.arg if isinstance(place, eq.Cast) and place.type.kind == "int" else place
    match mate:
        case eq.Op(name="xor", args=(eq.Index() as index, other) | (other, eq.Index() as index)) if mate is place:
            return index, mate, other
        case eq.Op(
            name="xor",
            args=(eq.Cast(arg=eq.Index() as index) as bits, other) | (other, eq.Cast(arg=eq.Index() as index) as bits),
        ) if mate is not place and bits.type.kind == "uint" and bits.type.bits == 32:
            return index, mate, other
    return None


def _extent(r: RawWrite, at: int, shapes: dict[str, tuple[eq.Expr, ...]]) -> eq.Expr | None:
    if r.view:
        return None if r.view[at] is ROWS else r.view[at]
    made = shapes.get(r.after.array)
    return made[at] if made else eq.Shape(r.after.array, at, INT)


def _told(
    path: tuple[eq.Expr, ...], index: eq.Index, place: eq.Expr, mate: eq.Expr, extent: eq.Expr
) -> tuple[eq.Expr, ...]:
    """The conditions and that the cell is one of the array, less that the partner is a thread where that is known."""
    closed = mixes(place, to_poly(extent).value)
    smaller = closed or _smaller(path, (index,), place) or _smaller(path, _bits(mate), mate)
    within = closed or (mate is not place and _smaller(path, _bits(mate), mate))
    bounds = [eq.Op("ge", (index, eq.Const(0, INT)), BOOL), eq.Op("lt", (index, extent), BOOL)]
    kept = []
    for c in path:
        match c:
            case eq.Op(name="ge", args=(e, eq.Const(value=0))) if e is place and within:
                continue
            case eq.Op(name="lt", args=(e, end)) if e is place and smaller and to_poly(end) == to_poly(extent):
                bounds[1] = eq.Op("lt", (index, end), BOOL)  # as the source spells it
                continue
        kept.append(c)
    return tuple(dict.fromkeys((*bounds, *kept)))


def _bits(mate: eq.Expr) -> tuple[eq.Expr, ...]:
    """The index in ``i ^ c`` as it stands there."""
    return tuple(a for a in mate.args if free_indices(a))  # type: ignore[union-attr]


def _smaller(path: tuple[eq.Expr, ...], own: tuple[eq.Expr, ...], mate: eq.Expr) -> bool:
    """Whether conditions say that the partner is no greater: ``i > i ^ c``, or no bit of c is set in ``i ^ c``."""
    for c in path:
        match c:
            case eq.Op(name="gt", args=(a, b)) | eq.Op(name="lt", args=(b, a)) if b is mate and a in own:
                return True
            case eq.Op(name="eq", args=(eq.Op(name="and_", args=both), eq.Const(value=0))):
                if mate.type.kind == "uint" and mate in both and not set(both) & {*own}:
                    return set(both) <= {mate, *mate.args}  # type: ignore[union-attr]
    return False


__all__ = ["exchanged", "mixes"]
