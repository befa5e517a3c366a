"""Stores of the two arms of a branch to several cells each, brought side by side.

``if c: q[2 * i] = a; q[2 * i + 1] = b`` and ``else: q[2 * i] = d; q[2 * i + 1] = e`` are four stores in a row of one
array. A store moves behind others to the same array that are over the same indices and at other cells, whatever the
indices are, up to a store to its own cells; the two are then joined where their conditions are each other's complements
(:mod:`kraise.raising.writes.index_sets`). Nothing else may look at the array in between, and what the stores that it
passes load of the array are other cells, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import gcd

from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import free_indices, map_statement, statement_expressions, substitute, topological

_FAR = 32  # stores that one passes


def joined(stmts: tuple[eq.Stmt, ...], one: Callable[[eq.Write, eq.Write], eq.Write | None]) -> tuple[eq.Stmt, ...]:
    """``stmts`` with stores that ``one`` makes of two, side by side, as that one."""
    at = 0
    while at < len(stmts):
        found = _joined_from(stmts, at, one)
        if found is None:
            at += 1
        else:
            stmts = found
    return stmts


def _joined_from(
    stmts: tuple[eq.Stmt, ...], at: int, one: Callable[[eq.Write, eq.Write], eq.Write | None]
) -> tuple[eq.Stmt, ...] | None:
    first = stmts[at]
    if not isinstance(first, eq.Write) or first.where is None or first.accumulate or first.safe:
        return None
    passed: list[int] = []
    versions = [first.before, first.after]
    for k in range(at + 1, len(stmts)):
        s = stmts[k]
        chained = isinstance(s, eq.Write) and s.before is versions[-1]
        if not chained:
            if _looks_at(s, versions[1:]):
                return None
            continue
        assert isinstance(s, eq.Write)
        if s.subscripts == first.subscripts and s.axes == first.axes:
            if not passed or _loads(s, versions[1:]):
                return None
            both = one(replace(first, before=versions[-2], after=versions[-1]), s)
            return None if both is None else _moved(stmts, at, passed, versions, (k, both))
        if len(passed) == _FAR or not _passes(first, s, versions[1:]):
            return None
        passed.append(k)
        versions.append(s.after)
    return None


def _moved(
    stmts: tuple[eq.Stmt, ...], at: int, passed: list[int], versions: list[eq.Version], last: tuple[int, eq.Write]
) -> tuple[eq.Stmt, ...]:
    """The stores that were passed build on what stood before the first one, each on the one before it."""
    earlier = dict(zip(versions[1:], versions, strict=False))

    def inside(e: eq.Expr) -> eq.Expr:
        loads = [n for n in topological((e,)) if isinstance(n, eq.Read) and n.version in earlier]
        return substitute(e, {n: replace(n, version=earlier[n.version]) for n in loads}) if loads else e

    out = list(stmts)
    for k in passed:
        s = map_statement(stmts[k], inside)
        assert isinstance(s, eq.Write)
        out[k] = replace(s, before=earlier[s.before], after=earlier[s.after])
    place, both = last
    out[place] = both
    return (*out[:at], *out[at + 1 :])


def _passes(first: eq.Write, other: eq.Write, versions: list[eq.Version]) -> bool:
    if (other.axes, other.view) != (first.axes, first.view) or other.safe:
        return False
    loads = [n for n in topological(statement_expressions(other)) if isinstance(n, eq.Read) and n.version in versions]
    cells = [other.subscripts, *(n.subscripts for n in loads)]
    return all(n.view == first.view for n in loads) and all(_apart(first, c) for c in cells)


def _apart(first: eq.Write, cell: tuple[eq.Expr, ...]) -> bool:
    """Whether no instance's cell is that of any instance of the store."""
    names = {a.name for a in first.axes}
    for mine, other in zip(first.subscripts, cell, strict=True):
        place = to_poly(mine)
        gap = (to_poly(other) - place).value
        if gap is None or any(free_indices(a) & names and not isinstance(a, eq.Index) for a in place.atoms()):
            continue
        steps = [place.coefficient(eq.Index(n, INT)).value for n in names] if place.is_affine_in(names) else [None]
        if None not in steps and (gap % step if (step := gcd(*steps)) else gap):  # type: ignore[arg-type]
            return True
    return False


def _loads(s: eq.Stmt, versions: list[eq.Version]) -> bool:
    return any(isinstance(n, eq.Read) and n.version in versions for n in topological(statement_expressions(s)))


def _looks_at(s: eq.Stmt, versions: list[eq.Version]) -> bool:
    if _loads(s, versions):
        return True
    match s:
        case eq.Write(before=before):
            return before in versions
        case eq.Fold(arrays=arrays, body=body):
            return any(a.outside in versions for a in arrays) or any(_looks_at(b, versions) for b in body)
    return False
