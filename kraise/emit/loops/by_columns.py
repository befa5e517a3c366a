"""Substitution column by column: as soon as an unknown is known, what it adds to all other equations is taken off.

``for k: b[k] /= A[k, k]; b[i] -= A[i, k] * b[k] for i > k`` (or ``i < k``, from last to first) leaves in ``b`` the
solution of the triangular system, as the loop over rows of :mod:`kraise.emit.loops.triangular` does; without the
division that of the system with ones on the diagonal, of which the last round (that adds to nothing) may be left out.
The side conditions: the loop carries the right-hand side alone, which has one axis; a round divides first, if it does,
and then changes every cell that is not made yet, by the unknown that it has made; matrix and right-hand side are of one
type of floats.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraise.emit.loads.masks import conjuncts, positive
from kraise.emit.text.linear import linear
from kraise.ir import equations as eq
from kraise.ir.types import FLOAT32, FLOAT64, INT, NUMBER


@dataclass(frozen=True)
class Columns:
    """The store that the loop is: its unknowns, the matrix (over ``unknowns`` and ``other``), which triangle of the
    system is meant, whether the matrix stands transposed, and whether the diagonal is of ones."""

    store: eq.Write
    unknowns: eq.Axis
    matrix: eq.Read
    other: eq.Axis
    lower: bool
    transposed: bool
    unit: bool


def by_columns(loop: eq.Fold) -> Columns | None:
    """What such a loop solves."""
    plain = not (loop.scalars or loop.outputs or loop.condition or loop.mapped or loop.unroll)
    axis, stores = loop.axis, loop.body
    if not plain or axis is None or axis.step != 1 or len(loop.arrays) != 1 or not 1 <= len(stores) <= 2:
        return None
    (carry,), k, update = loop.arrays, eq.Index(axis.name, INT), stores[-1]
    if not isinstance(update, eq.Write) or update.after is not carry.exit or len(update.axes) != 1 or update.view:
        return None
    (inner,) = update.axes
    i = eq.Index(inner.name, INT)
    if update.accumulate != "add" or update.safe or update.segments or inner.step != 1 or update.subscripts != (i,):
        return None
    made = eq.Read(update.before, (k,), update.value.type)
    match update.value:
        case eq.Op(name="neg", args=(eq.Op(name="mul", args=(eq.Read() as a, eq.Read() as b)),)) if made in (a, b):
            matrix = b if a is made else a
        case _:
            return None
    if matrix.type not in (NUMBER, FLOAT32, FLOAT64) or matrix.type != made.type or matrix.safe:
        return None
    own = matrix.version.array == carry.outside.array or matrix.outside or matrix.limit
    if own or len(matrix.subscripts) != 2 or set(matrix.subscripts) != {i, k}:
        return None
    unit = len(stores) == 1
    on_diagonal = eq.Read(matrix.version, (k, k), matrix.type, matrix.view)
    if (
        update.before is not carry.entry
        if unit
        else not _divides(stores[0], carry.entry, update.before, k, on_diagonal)
    ):
        return None
    rows = _rows(loop, axis, inner, update.where, unit)
    if rows is None:
        return None
    transposed = matrix.subscripts == (k, i)
    return Columns(update, rows, matrix, axis, (not loop.reverse) is not transposed, transposed, unit)


def _divides(stmt: eq.Stmt, before: eq.Version, after: eq.Version, k: eq.Index, diagonal: eq.Read) -> bool:
    """Whether a statement is ``b[k] = b[k] / A[k, k]``."""
    if not isinstance(stmt, eq.Write) or (stmt.before, stmt.after, stmt.axes) != (before, after, ()):
        return False
    whole = not (stmt.accumulate or stmt.where or stmt.safe or stmt.segments or stmt.view)
    given = eq.Op("div", (eq.Read(before, (k,), diagonal.type), diagonal), diagonal.type)
    return whole and stmt.subscripts == (k,) and stmt.value is given


def _rows(loop: eq.Fold, axis: eq.Axis, inner: eq.Axis, where: eq.Expr | None, unit: bool) -> eq.Axis | None:
    """All unknowns, if a round changes those of them that later rounds make."""
    parts = conjuncts(where) if where is not None else ()
    bounds = positive(parts[0]) if len(parts) == 1 else ()
    gap = linear(eq.Index(inner.name, INT)) - linear(eq.Index(axis.name, INT))
    if len(bounds) != 1 or not bounds[0].same((-gap if loop.reverse else gap) + -1):
        return None
    low, high = linear(inner.lo) - linear(axis.lo), linear(axis.hi) - linear(inner.hi)
    if low.terms or high.terms:
        return None
    near, far = (high.constant, -low.constant) if loop.reverse else (low.constant, -high.constant)
    # the last round has nothing left to change: where it divides nothing either, it may be missing
    if near not in (0, 1) or far not in ((0, 1) if unit else (0,)):
        return None
    return eq.Axis(inner.name, inner.lo if loop.reverse else axis.lo, axis.hi if loop.reverse else inner.hi)


__all__ = ["Columns", "by_columns"]
