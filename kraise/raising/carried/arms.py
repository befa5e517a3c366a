"""What a round adds in either of two ways that come to the same: from a tile where it has the cell, or from the array.

``v += c ? F * s : (in ? F * a : nothing)`` with ``s`` = ``g ? a : 0`` adds ``F * a`` where ``in`` holds: where the tile
has the cell and it is one of the array's, what is asked outside holds, too; a cell of the tile beyond the array is
zero, and a multiple of it adds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kraise.analysis.conditions import classify, conjuncts, of_launch
from kraise.analysis.dependence import implied, nonnegative
from kraise.analysis.poly import Poly
from kraise.ir import equations as eq
from kraise.ir.walk import substitute
from kraise.raising.carried.shift import in_place
from kraise.raising.run import simplify
from kraise.raising.writes.accumulate import Contribution

Path = tuple[eq.Expr, ...]


def one_arm(how: Contribution, path: Path) -> Contribution:
    """``how`` without the choice, if it is one of these."""
    if how.op != "add" or how.value is None or how.where is None:
        return how
    match how.value:
        case eq.Op(name="select", args=(condition, a, b)):
            for inside, tile, outside in ((condition, a, b), (simplify.negation(condition), b, a)):
                where = _same(inside, tile, outside, how.where, path)
                if where is not None:
                    return replace(how, value=outside, where=where)
    return how


def _same(inside: eq.Expr, tile: eq.Expr, outside: eq.Expr, where: eq.Expr, path: Path) -> eq.Expr | None:
    """The condition under which the value ``outside`` alone is added; None if the other arm differs."""
    no = simplify.negation(inside)
    always = _given(where, {inside: simplify.TRUE, no: simplify.FALSE})
    beyond = _given(where, {inside: simplify.FALSE, no: simplify.TRUE})
    if always is not simplify.TRUE:
        return None
    within = (*path, *conjuncts(inside))
    for chosen in _factors(tile):
        match chosen:
            case eq.Op(name="select", args=(there, a, eq.Const(value=0))) if (
                in_place(substitute(tile, {chosen: a})) is in_place(outside)
                and _follows((*within, *conjuncts(there)), beyond)
                and _follows((*within, *conjuncts(beyond)), there)
            ):
                return beyond
    return None


def _given(e: eq.Expr, known: dict[eq.Expr, eq.Expr]) -> eq.Expr:
    """A condition in which others are decided."""
    if e in known:
        return known[e]
    if isinstance(e, eq.Op) and e.name in ("and", "or", "not"):
        return simplify.op(e.name, tuple(_given(a, known) for a in e.args), e.type)
    return e


def _factors(e: eq.Expr) -> Iterator[eq.Expr]:
    """What makes all of ``e`` zero where it is."""
    yield e
    match e:
        case eq.Op(name="mul", args=(a, b)):
            yield from _factors(a)
            yield from _factors(b)
        case eq.Op(name="neg", args=(a,)) | eq.Cast(arg=a):
            yield from _factors(a)


def _follows(path: Path, condition: eq.Expr) -> bool:
    return all(c in path or implied(path, c) or _summed(path, c) for c in conjuncts(condition))


def _summed(path: Path, c: eq.Expr) -> bool:
    """Whether a sum is not negative without its products of numbers that are not: ``block * B + k >= 0`` where ``k`` is
    not, either."""
    fact = classify(c)
    if fact is None or fact.kind != "ge":
        return False
    rest = {m: n for m, n in fact.poly.terms.items() if n < 0 or len(m) < 2 or not all(_natural(path, a) for a in m)}
    return len(rest) < len(fact.poly.terms) and nonnegative(path, Poly(rest))


def _natural(path: Path, atom: eq.Expr) -> bool:
    return of_launch(atom) or isinstance(atom, eq.Shape) or nonnegative(path, Poly({(atom,): 1}))


__all__ = ["one_arm"]
