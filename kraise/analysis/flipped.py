"""Bits that are flipped: ``i ^ m`` with one m for all threads takes each value once, and flips back.

Where the mask moves, too (``tile[j][i ^ j]``, a tile without conflicts of banks), two are equal for equal masks and
places only.

It is no affine expression: an unknown number in questions to isl, of which only that is known, and that it has those
bits of m that i has not. A butterfly's pairs (``a[i]`` and ``a[i ^ m]`` where ``i ^ m > i``, or where ``i & m`` is 0)
are apart by it.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraise.analysis.conditions import static_expr
from kraise.ir import equations as eq
from kraise.ir.order import by_text


@dataclass(frozen=True)
class Term:
    """The unknown ``result`` that stands for ``place ^ mask`` or ``place & mask``, all in isl's syntax."""

    place: str
    mask: str
    result: str
    moving: bool = False  # whether the mask differs from instance to instance


@dataclass(frozen=True)
class Same:
    """What has one value in two instances: the ``shared`` indices and, where they are in the same rounds of all loops
    (``rounds``), what a loop carries for all threads at once."""

    shared: frozenset[str]
    rounds: bool

    def holds(self, e: eq.Expr) -> bool:
        """Whether ``e`` is made of such, and of sizes."""
        match e:
            case eq.Index(name=name):
                return name in self.shared
            case eq.CarryIn(fold=fold, axes=axes):
                return self.rounds and not axes and fold.split("#")[0] in self.shared  # the index of its rounds
            case eq.FoldResult(axes=axes):
                return self.rounds and not axes
            case eq.Op(args=args):
                return all(map(self.holds, args))
            case eq.Cast(arg=arg):
                return self.holds(arg)
        return static_expr(e)


class Bits:
    """The terms of one set, and what follows of each two for places that are not negative."""

    def __init__(self) -> None:
        self.flips: list[Term] = []
        self.masked: list[Term] = []

    def add(self, operation: str, new: Term) -> list[str]:
        """What is known once ``new`` is among them."""
        if operation == "and_":
            said = [c for other in self.masked for f in self.flips for c in _complements(f, new, other)]
            self.masked.append(new)
            return said
        none = f"{new.mask} = 0 and {new.result} = {new.place}"
        some = f"{new.mask} != 0 and {new.result} != {new.place}"
        said = [f"({new.place} < 0 or ({none}) or ({some}))", *(c for other in self.flips for c in _apart(other, new))]
        pairs = [(a, b) for at, a in enumerate(self.masked) for b in self.masked[at + 1 :]]
        said += [c for a, b in pairs for c in _complements(new, a, b)]
        self.flips.append(new)
        return said


def parts(atom: eq.Expr, same: Same | None = None) -> tuple[str, eq.Expr, eq.Expr] | None:
    """The operation, the place and the mask, if all threads have the same mask (where two of them are asked about: what
    is the ``same`` for both).

    A subscript lies within its array, and an index within 31 bits: conversions between types of 32 bits and more
    change neither.
    """
    match bare(atom):
        case eq.Op(name="xor" | "and_" as name, args=(a, b), type=t) if _wide(t):
            for place, mask in ((a, b), (b, a)):
                if static_expr(mask) and not static_expr(place):
                    return name, bare(place), bare(mask)
            for place, mask in ((a, b), (b, a)) if same is not None else ():
                if same is not None and same.holds(mask) and not same.holds(place):
                    return name, bare(place), bare(mask)
    return None


def moving(atom: eq.Expr) -> tuple[eq.Expr, eq.Expr] | None:
    """The place and the mask of ``place ^ mask`` where both move."""
    match bare(atom):
        case eq.Op(name="xor", args=(a, b), type=t) if _wide(t) and not static_expr(a) and not static_expr(b):
            one, other = sorted((bare(a), bare(b)), key=by_text)
            return one, other
    return None


def bare(e: eq.Expr) -> eq.Expr:
    """``e`` without conversions to integers of 32 bits or more."""
    while isinstance(e, eq.Cast) and _wide(e.type) and _wide(e.arg.type):
        e = e.arg
    return e


def _wide(t: object) -> bool:
    return bool(getattr(t, "is_integer", False)) and ((bits := getattr(t, "bits", None)) is None or bits >= 32)


def _apart(one: Term, other: Term) -> list[str]:
    """Flips of the same bits: equal for equal places only, and each the other's place or neither."""
    if one.moving or other.moving:
        return [_met(one, other), _met(_turned(one), _turned(other))]
    if one.mask != other.mask:
        return []
    pairs = (
        (one.place, other.place, one.result, other.result),
        (one.place, other.result, one.result, other.place),
    )
    outside = f"{one.place} < 0 or {other.place} < 0"
    return [f"({outside} or ({a} = {b} and {c} = {d}) or ({a} != {b} and {c} != {d}))" for a, b, c, d in pairs]


def _met(one: Term, other: Term) -> str:
    """By equal masks, equal for equal places only."""
    outside = f"{one.place} < 0 or {other.place} < 0 or {one.mask} < 0 or {other.mask} < 0"
    alike = f"({one.place} = {other.place} and {one.result} = {other.result})"
    unlike = f"({one.place} != {other.place} and {one.result} != {other.result})"
    return f"({outside} or ({one.mask}) != ({other.mask}) or {alike} or {unlike})"


def _turned(term: Term) -> Term:
    return Term(term.mask, term.place, term.result)


def _complements(flip: Term, one: Term, other: Term) -> list[str]:
    """The bits of the mask in a place, and in that place with them flipped, make up the mask (a large number if it is
    negative and they are unsigned)."""
    if flip.moving or not flip.mask == one.mask == other.mask:
        return []
    out = []
    for a, b in ((one, other), (other, one)):
        both = f"{a.result} + {b.result}"
        whole = f"{both} = {flip.mask} or ({flip.mask} < 0 and {both} > 0)"
        elsewhere = f"{flip.place} < 0 or {a.place} != {flip.place} or {b.place} != {flip.result}"
        out.append(f"({elsewhere} or {whole})")
    return out


__all__ = ["Bits", "Term", "bare", "moving", "parts"]
