"""Segments: ranges that two neighbouring entries of an array bound, ``ptr[r] <= k < ptr[r + 1]``.

Where the array does not decrease, each k lies in one segment at most: the segments of different r are disjoint and in
order. That is what a row pointer (of a sparse matrix, of an adjacency list, of sorted particles) says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kraise.analysis.conditions import classify
from kraise.analysis.poly import Poly, to_poly
from kraise.ir import equations as eq
from kraise.ir.walk import transform


@dataclass(frozen=True)
class Segment:
    """Index ``index`` runs from ``pointer[row] + shift`` to before ``pointer[row + 1] + shift``; ``bounds`` say so."""

    index: str
    pointer: eq.Read  # the entry at which the segment starts
    shift: int
    bounds: tuple[eq.Expr, eq.Expr]

    @property
    def row(self) -> Poly:
        return to_poly(self.pointer.subscripts[0])


@dataclass(frozen=True)
class _Side:
    index: str
    read: eq.Read
    shift: int
    lower: bool
    condition: eq.Expr


def segments(conjuncts: Iterable[eq.Expr]) -> tuple[Segment, ...]:
    """The segments that ``conjuncts`` describe, in their order."""
    sides = [s for s in map(_side, conjuncts) if s is not None]
    out = []
    for low in sides:
        for high in sides:
            if not low.lower or high.lower or (low.index, low.shift) != (high.index, high.shift):
                continue
            a, b = low.read, high.read
            if a.version is b.version and (to_poly(b.subscripts[0]) - to_poly(a.subscripts[0])).value == 1:
                out.append(Segment(low.index, a, low.shift, (low.condition, high.condition)))
    return tuple(out)


def plain(condition: eq.Expr) -> eq.Expr:
    """A comparison of indices with what is loaded, without the indices' conversions to that type."""

    def one(e: eq.Expr) -> eq.Expr:
        wide = isinstance(e, eq.Cast) and e.type.kind == "int" and (e.type.bits or 64) >= 32
        return e.arg if wide and isinstance(e.arg, eq.Index) else e  # type: ignore[union-attr]

    return transform(condition, one)


def _side(condition: eq.Expr) -> _Side | None:
    """``k >= ptr[e] + c`` or ``k < ptr[e] + c``; None for any other condition."""
    fact = classify(plain(condition))
    if fact is None or fact.kind != "ge" or len(fact.poly.terms) not in (2, 3):
        return None
    constant = fact.poly.terms.get((), 0)
    atoms = [(m[0], c) for m, c in fact.poly.terms.items() if len(m) == 1]
    indices = [(a, c) for a, c in atoms if isinstance(a, eq.Index)]
    reads = [(a, c) for a, c in atoms if isinstance(a, eq.Read)]
    if len(indices) != 1 or len(reads) != 1 or len(fact.poly.terms) != 2 + (() in fact.poly.terms):
        return None
    (index, sign), (read, other) = indices[0], reads[0]
    if sign not in (1, -1) or other != -sign or len(read.subscripts) != 1 or read.view:
        return None
    shift = -constant if sign == 1 else constant + 1
    return _Side(index.name, read, shift, sign == 1, condition)
