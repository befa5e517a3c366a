"""A pointer that a condition puts to one of two arrays, as a choice by a number (:class:`kraise.ir.host.Chosen`).

``src = k % 2 ? b : a`` is ``src = {a, b}[k % 2]``: :mod:`.banks` makes a swap of it where the number moves on from
round to round. A number that is compared with 0 or 1 is a flag where :mod:`.phases` knows its values; what data decide
stays a branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import expression_names, set_within
from kraise.ir.types import BOOL, INT

Body = tuple[h.Stmt, ...]


def as_choices(body: Body, every: bool) -> Body:
    """The body with a choice for each ``if`` that only puts one name to one of two arrays, by any condition where
    ``every`` says so: nobody then asks which memory an array is in."""
    return tuple(_block(body, _counters(body), every))


def _block(body: Body, counters: set[str], every: bool) -> Iterator[h.Stmt]:
    for stmt in body:
        match stmt:
            case h.If(
                body=(h.Point(names=names, sources=(k.ArrayRef(array=one, offset=None),)),),
                orelse=(h.Point(names=others, sources=(k.ArrayRef(array=two, offset=None),)),),
            ) if len(names) == 1 and names == others and one != two and (every or counts(stmt.condition)):
                yield h.Point(names, (_chosen(stmt.condition, one, two, counters, stmt),), span=stmt.span)
            case h.If():
                then, orelse = (tuple(_block(b, counters, every)) for b in (stmt.body, stmt.orelse))
                yield replace(stmt, body=then, orelse=orelse)
            case h.For() | h.While():
                yield replace(stmt, body=tuple(_block(stmt.body, counters, every)))
            case _:
                yield stmt


def _chosen(condition: h.Expr, one: str, two: str, counters: set[str], stmt: h.If) -> h.Chosen:
    """``one`` where the condition holds, else ``two``; the same two arrays stand in one order everywhere."""
    number, ones = _number(condition, counters)
    first, second = (two, one) if ones else (one, two)
    if first > second:
        first, second = second, first
        flag = number.type == BOOL
        number = k.Op("not", (number,), BOOL) if flag else k.Op("sub", (k.Const(1, INT), number), INT)
    return h.Chosen((first, second), number, span=stmt.span)


def _number(condition: h.Expr, counters: set[str]) -> tuple[k.Expr, bool]:
    """A number within 0 and 1, and whether the condition holds where it is 1: ``k % 2`` of ``k % 2 != 0``."""
    match condition:
        case k.Op(name="not", args=(inner,)):
            number, ones = _number(inner, counters)
            return number, not ones
        case k.Op(name="ne", args=(number, k.Const(value=0))) if _parity(number):
            return number, True
        case k.Op(name="eq", args=(number, k.Const(value=0))) if _parity(number):
            return number, False
        case k.Op(name="eq", args=(number, k.Const(value=1))) if _parity(number) and _positive(number, counters):
            return number, True
    if _parity(condition) and _positive(condition, counters):  # type: ignore[arg-type]
        return condition, True  # type: ignore[return-value]
    if getattr(condition, "type", BOOL) != BOOL:  # any number but 0 counts as true
        return k.Op("ne", (condition, k.Const(0, INT)), BOOL), True  # type: ignore[arg-type]
    return condition, True  # type: ignore[return-value]


def counts(condition: h.Expr) -> bool:
    """Does a condition ask for the parity of a number, or which of two values it has?"""
    match condition:
        case k.Var(type=kind):
            return kind == BOOL
        case k.Op(name="not", args=(inner,)):
            return counts(inner)
        case k.Op(name="eq" | "ne", args=(k.Var(), k.Const(value=value))):
            return value in (0, 1)
        case k.Op(name="eq" | "ne", args=(number, k.Const())):
            return _parity(number)
    return _parity(condition)  # type: ignore[arg-type]  # any remainder but 0 counts as true


def _parity(e: k.Expr) -> bool:
    """Is it the remainder of a number by two?"""
    match e:
        case k.Op(name="mod" | "tmod", args=(_, k.Const(value=2))) | k.Op(name="and_", args=(_, k.Const(value=1))):
            return True
    return False


def _positive(e: k.Expr, counters: set[str]) -> bool:
    """Is a remainder by two never -1?"""
    match e:
        case k.Op(name="tmod", args=(k.Var(name=name, type=kind), _)):
            return kind.kind == "uint" or name in counters
    return isinstance(e, k.Op) and e.name in ("mod", "and_")


def _counters(body: Body) -> set[str]:
    """The variables that are counters of loops from a number that is not negative on, and nothing else."""
    found: dict[str, bool] = {}

    def visit(block: Body) -> None:
        for stmt in block:
            if isinstance(stmt, h.For):
                bounds = all(isinstance(b, k.Const) and b.value.real >= 0 for b in (stmt.start, stmt.step))
                good = bounds and stmt.var not in set_within(stmt.body)
                found[stmt.var] = found.get(stmt.var, True) and good
            elif isinstance(stmt, h.Assign):
                found[stmt.name] = False
            for inner in h.children(stmt):
                visit(inner)

    visit(body)
    return {name for name, good in found.items() if good}


def joined(body: Body) -> Body:
    """One ``if`` for several in a row that test the same and only move pointers."""
    out: list[h.Stmt] = []
    for stmt in body:
        blocks = {f: joined(getattr(stmt, f)) for f in ("body", "orelse") if hasattr(stmt, f)}
        stmt = replace(stmt, **blocks) if blocks else stmt  # type: ignore[arg-type]
        last = out[-1] if out else None
        same = isinstance(stmt, h.If) and isinstance(last, h.If) and stmt.condition == last.condition
        if same and _only_points(last, stmt.condition):  # type: ignore[arg-type,union-attr]
            assert isinstance(last, h.If) and isinstance(stmt, h.If)
            out[-1] = replace(last, body=last.body + stmt.body, orelse=last.orelse + stmt.orelse)
        else:
            out.append(stmt)
    return tuple(out)


def _only_points(stmt: h.If, condition: h.Expr) -> bool:
    names = {n for s in (*stmt.body, *stmt.orelse) if isinstance(s, h.Point) for n in s.names}
    points = all(isinstance(s, h.Point) for s in (*stmt.body, *stmt.orelse))
    return points and not names & set(expression_names(condition))


__all__ = ["as_choices", "counts", "joined"]
