"""Segments: ranges that two neighbouring entries of an array bound, ``ptr[r] <= k < ptr[r + 1]``.

Where the array does not decrease, each k lies in one segment at most: the segments of different r are disjoint and in
order. That is what a row pointer (of a sparse matrix, of an adjacency list, of sorted particles) says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kraise.analysis.conditions import classify, negate
from kraise.analysis.poly import Poly, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL
from kraise.ir.walk import substitute, transform


@dataclass(frozen=True)
class Segment:
    """Index ``index`` lies from ``pointer[row] + shift`` to before ``pointer[row + 1] + shift``, as ``bounds`` say.

    Where the index starts later than its segment does (``ptr[i] + 1``), or ends earlier, the condition on that side
    says more, and is none of the bounds.
    """

    index: str
    pointer: eq.Read  # the entry at which the segment starts
    shift: int
    bounds: tuple[eq.Expr, ...]
    unless_last: eq.Expr | None = None  # where this does not hold, the segment ends where ``tail`` says
    tail: eq.Expr | None = None

    @property
    def whole(self) -> bool:
        """Whether the index takes all of the segment, as far as both bounds say."""
        return len(self.bounds) == 2

    def left(self, conjuncts: Iterable[eq.Expr]) -> tuple[eq.Expr, ...]:
        """What ``conjuncts`` say beyond that the index lies in the segment."""
        rest = tuple(c for c in conjuncts if c not in self.bounds)
        if self.unless_last is None or self.tail is None:
            return rest
        return (*rest, eq.Op("or", (self.unless_last, self.tail), BOOL))

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
    unless_last: eq.Expr | None
    tail: eq.Expr | None


@dataclass(frozen=True)
class Span:
    """Index ``index`` lies from ``pointer[row] + start`` to before ``pointer[row + 1] + end``."""

    index: str
    pointer: eq.Read
    start: int
    end: int

    @property
    def row(self) -> Poly:
        return to_poly(self.pointer.subscripts[0])


def spans(conjuncts: Iterable[eq.Expr]) -> tuple[Span, ...]:
    """The ranges in segments that ``conjuncts`` describe."""
    sides = [s for s in map(_side, conjuncts) if s is not None and s.unless_last is None]
    return tuple(
        Span(low.index, low.read, low.shift, high.shift)
        for low in sides
        for high in sides
        if low.lower and not high.lower and low.index == high.index and _next(low.read, high.read)
    )


def _next(a: eq.Read, b: eq.Read) -> bool:
    """Whether ``b`` is the entry behind ``a``."""
    return a.version is b.version and (to_poly(b.subscripts[0]) - to_poly(a.subscripts[0])).value == 1


def segments(conjuncts: Iterable[eq.Expr], given_ends: bool = False) -> tuple[Segment, ...]:
    """The segments that ``conjuncts`` describe, in their order; one that they describe in part with either shift, that
    which is nearer to none first. ``given_ends``: those too whose end is under a condition the next one's start and
    else anything (``ptr[i + 1] if i + 1 < n else total``); whoever asks for them must look at it.
    """
    sides = [s for s in map(_side, conjuncts) if s is not None]
    out = []
    for low in sides:
        for high in sides:
            if not low.lower or high.lower or low.index != high.index or low.shift < high.shift:
                continue
            a = low.read
            if not _next(a, high.read):
                continue
            if high.unless_last is not None or low.unless_last is not None:
                if given_ends and low.unless_last is None and low.shift == high.shift:
                    both = (low.condition, high.condition)
                    out.append(Segment(low.index, a, low.shift, both, high.unless_last, high.tail))
                continue
            if low.shift == high.shift:
                out.append(Segment(low.index, a, low.shift, (low.condition, high.condition)))
                continue
            parts = [Segment(low.index, a, s.shift, (s.condition,)) for s in (low, high)]
            out += sorted(parts, key=lambda part: abs(part.shift))
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
    unless_last = tail = None
    choices = [(a, c) for a, c in atoms if isinstance(a, eq.Op) and a.name == "select"]
    if not reads and len(choices) == 1:
        choice, change = choices[0]
        unless_last, first, rest = choice.args
        if not isinstance(first, eq.Read):
            unless_last, first, rest = negate(unless_last), rest, first
        reads = [(first, change)] if isinstance(first, eq.Read) else []
        tail = substitute(condition, {choice: rest})
    if len(indices) != 1 or len(reads) != 1 or len(fact.poly.terms) != 2 + (() in fact.poly.terms):
        return None
    (index, sign), (read, other) = indices[0], reads[0]
    if sign not in (1, -1) or other != -sign or len(read.subscripts) != 1 or read.view:
        return None
    shift = -constant if sign == 1 else constant + 1
    return _Side(index.name, read, shift, sign == 1, condition, unless_last, tail)
