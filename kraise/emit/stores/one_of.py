"""Stores of which one thread's stays: ``if (i == n - 1) y[0] = s[t]``, in a subscript that does not say which.

The value is the sum over the threads under that condition: of one term. That it is one at most is read off the
condition, an equality of numbers of which each number is one of digits (``64 * block + t``), or off the range.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.diagnostics import refuse
from kraise.emit import tree
from kraise.emit.context import Context, Frame
from kraise.emit.loads.masks import conjuncts
from kraise.emit.text.linear import linear
from kraise.ir import equations as eq
from kraise.ir.types import BOOL


def of_one(context: Context, stmt: eq.Write, rest: Frame) -> eq.Write:
    """``stmt`` without the axes ``rest``, which no subscript names.

    Raises:
        Refused: several threads may store.
    """
    held = context.free(stmt.value) | (context.free(stmt.where) if stmt.where is not None else frozenset())
    left = tuple(a for a in rest if a.name in held)
    kept = tuple(a for a in stmt.axes if a not in rest)
    if not left:
        return replace(stmt, axes=kept)
    open_ = tuple(a for a in left if not _at_most_one(a))
    conditions = () if stmt.where is None else conjuncts(stmt.where)
    if stmt.value.type.kind == "complex" or (open_ and not any(_told(c, open_) for c in conditions)):
        raise refuse("KR306", "a plain store does not name all of its indices", stmt.span)
    op = "or" if stmt.value.type.kind == "bool" else "add"
    only = eq.Reduce(op, left, stmt.value, stmt.where if open_ else None, stmt.value.type)
    where: eq.Expr | None = None if stmt.where is None else eq.Reduce("or", left, stmt.where, None, BOOL)
    for a in left:
        if a not in open_ and not _one_value(a):  # one, or none
            there = eq.Op("lt", (a.lo, a.hi), BOOL)
            where = there if where is None else eq.Op("and", (there, where), BOOL)
    return replace(stmt, axes=kept, value=only, where=where)


def _one_value(a: eq.Axis) -> bool:
    return isinstance(a.lo, eq.Const) and isinstance(a.hi, eq.Const) and _gap(a.lo, a.hi) == 1


def _gap(lo: eq.Expr, hi: eq.Expr) -> int | None:
    """How much further ``hi`` is, where that is a number."""
    gap = linear(hi) - linear(lo)
    return None if gap.terms else gap.constant


def _at_most_one(a: eq.Axis) -> bool:
    lows = a.lo.args if isinstance(a.lo, eq.Op) and a.lo.name == "max" else (a.lo,)
    highs = a.hi.args if isinstance(a.hi, eq.Op) and a.hi.name == "min" else (a.hi,)
    gaps = [_gap(lo, hi) for lo in lows for hi in highs]
    return any(gap is not None and gap <= 1 for gap in gaps)


def _told(condition: eq.Expr, axes: Frame) -> bool:
    """Whether no two values of the indices of ``axes`` fulfil the condition."""
    if not isinstance(condition, eq.Op) or condition.name != "eq" or not condition.args[0].type.is_integer:
        return False
    form = linear(condition.args[0]) - linear(condition.args[1])
    names = {a.name for a in axes}
    digits: list[tuple[int, int | None]] = []  # what an index is taken times, and how far it goes
    for atom, times in form.terms:
        if isinstance(atom, eq.Index) and atom.name in names:
            (axis,) = (a for a in axes if a.name == atom.name)
            digits.append((abs(times), _gap(axis.lo, axis.hi)))
        elif any(isinstance(n, eq.Index) and n.name in names for n in tree.walk(atom)):
            return False
    if len(digits) != len(axes):
        return False
    most = 0
    for at, (times, count) in enumerate(sorted(digits, key=lambda d: d[0])):
        if times <= most or (count is None and at < len(digits) - 1):
            return False
        most += times * ((count or 1) - 1)
    return True


__all__ = ["of_one"]
