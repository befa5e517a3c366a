"""Stores of a number that is not zero, to cells of which others only ask whether they are zero.

``if r[i][k] and r[k][j]: r[i][j] = 1`` (Warshall, JACM 9(1), 1962) reads row and column k, which other instances write;
but there the condition of the store is that the cell is not zero already, so what the others ask has one answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kraise.analysis.conditions import conjuncts
from kraise.analysis.dependence import Access
from kraise.ir import equations as eq
from kraise.ir.walk import Unmovable, children, substitute, topological
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import same_cell

_MOST = 127  # a number up to it is not zero in any type


def keeps_truth(w: Access, other: Access, at: Mapping[eq.Expr, eq.Expr], roots: Iterable[eq.Expr]) -> bool:
    """Whether the store ``w`` leaves the answer as it is wherever it meets the load ``other``: its indices are ``at``
    there. ``roots``: all expressions in which a load of the array may occur."""
    if other.write or w.accumulate or not isinstance(w.value, eq.Const) or not at:
        return False
    number = w.value.value
    if isinstance(number, complex) or number != int(number) or not 1 <= abs(number) <= _MOST:
        return False
    try:
        held = [substitute(c, dict(at)) for p in w.path for c in conjuncts(p)]
        cell = tuple(substitute(s, dict(at)) for s in w.subscripts)
    except Unmovable:
        return False
    if not any(isinstance(r := _not_zero(c), eq.Read) and r.view == w.view and is_cell(r, w.array, cell) for c in held):
        return False
    return all(
        _asked(n) is not None or not any(_counts(a, w) for a in children(n)) for n in topological(roots)
    ) and not (any(_counts(r, w) for r in roots))


def _not_zero(e: eq.Expr) -> eq.Expr | None:
    match e:
        case eq.Op(name="ne", args=(x, eq.Const(value=0))):
            return x
    return None


def _asked(e: eq.Expr) -> eq.Expr | None:
    """``x`` of ``x != 0``; of a comparison with zero it does not matter which."""
    match e:
        case eq.Op(name="ne" | "eq", args=(x, eq.Const(value=0))):
            return x
    return None


def is_cell(read: eq.Read, array: str, cell: tuple[eq.Expr, ...]) -> bool:
    """Whether a load is of this cell."""
    return read.version.array == array and len(read.subscripts) == len(cell) and same_cell(read.subscripts, cell)


def _counts(node: eq.Expr, w: Access) -> bool:
    """Whether a load may be of a cell that another instance stores to."""
    return isinstance(node, eq.Read) and node.version.array == w.array and node.subscripts != w.subscripts


def as_tested(e: eq.Expr) -> eq.Expr:
    """``e`` with what its conditions say of the cells they test: where ``not x != 0`` holds, x is 0."""
    match e:
        case eq.Op(name="select", args=(eq.Op(name="ne", args=(x, eq.Const(value=0) as zero)) as test, a, b), type=t):
            then = as_tested(substitute(a, {test: simplify.TRUE}))
            other = as_tested(substitute(b, {test: simplify.FALSE, x: zero}))
            if then is x and isinstance(other, eq.Const) and other.value == 0:
                return x
            return then if then is other else simplify.op("select", (test, then, other), t)
        case eq.Op(name="select", args=(eq.Const(value=holds), a, b)):
            return as_tested(a if holds else b)
        case eq.Op(name="select", args=(test, a, b), type=t):
            return simplify.op("select", (test, as_tested(a), as_tested(b)), t)
    return e


__all__ = ["as_tested", "is_cell", "keeps_truth"]
