"""Stores by block and thread under a guard on their flat position: what all threads have, cut off at the guard.

``if b * block + t < n: y[b * block + t] = v`` is ``y.at[:n].set(v.ravel()[:n])`` (n no more than there are threads): no
index array, no mask. Blocks from one on, or threads that begin some cells later, store from there on:
``y.at[start : start + count]``.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.emit.context import Context, Frame
from kraise.emit.loads import filled
from kraise.emit.loads.mapped import named
from kraise.emit.loads.masks import conjuncts, is_static
from kraise.emit.loads.views import expression
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.python import Py, Slice
from kraise.ir import equations as eq
from kraise.ir.types import INT, INT32
from kraise.ir.walk import map_statement, substitute


def counted_from_zero(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such stores over blocks that are counted from zero."""
    names: list[tuple[eq.Expr, eq.Expr]] = []

    def own(s: eq.Stmt) -> eq.Stmt:
        late = _late(s) if isinstance(s, eq.Write) else None
        if late is None:
            return s
        axis, number = late
        moved: dict[eq.Expr, eq.Expr] = {
            eq.Index(axis.name, kind): eq.Op("add", (eq.Index(axis.name, kind), number), kind) for kind in (INT, INT32)
        }
        short = replace(axis, lo=eq.Const(0, INT), hi=eq.Op("sub", (axis.hi, number), INT))
        s = map_statement(s, lambda e: substitute(e, moved))
        assert isinstance(s, eq.Write)
        names.extend((n.expr, substitute(n.expr, moved)) for n in kernel.names)
        return replace(s, axes=tuple(short if a.name == axis.name else a for a in s.axes))

    return named(replace(kernel, body=tuple(map(own, kernel.body))), names)


def _late(s: eq.Write) -> tuple[eq.Axis, eq.Const] | None:
    """The axis of the blocks of such a store, where they begin with a later one, and with which."""
    if len(s.subscripts) != 1 or s.view or s.where is None or s.segments:
        return None
    late = [a for a in s.axes if isinstance(a.lo, eq.Const) and a.lo.value != 0]
    if len(late) != 1 or not isinstance(late[0].lo, eq.Const) or late[0].step != 1:
        return None
    first = tuple(replace(a, lo=eq.Const(0, INT)) if a is late[0] else a for a in s.axes)
    order = filled.digits(_start(filled.terms(s.subscripts[0]))[1], first)
    return (late[0], late[0].lo) if order is not None and order[0].name == late[0].name else None


def _start(place: filled.Terms) -> tuple[filled.Terms, filled.Terms]:
    """What of a place is the same for all threads, and the rest."""
    fixed = {m: c for m, c in place.items() if all(map(is_static, m))}
    return fixed, {m: c for m, c in place.items() if m not in fixed}


def part(low: Lowering, stmt: eq.Write) -> tuple[Frame, Py | None, Py] | None:
    """The axes of such a store, and the texts of its first cell (None: that of the array) and of the number of cells;
    None for other stores."""
    if len(stmt.subscripts) != 1 or stmt.view or stmt.where is None:
        return None
    fixed, place = _start(filled.terms(stmt.subscripts[0]))
    order = filled.digits(place, stmt.axes)
    start = _size(low.ctx, fixed)
    if order is None or start is None:
        return None
    found, only = filled.limits(place, conjuncts(stmt.where))
    if not only or not all(f.same(found[0]) for f in found):
        return None
    extents = tuple(a.hi for a in order)
    cells = filled.count(low.ctx, extents, expression(found[0]), len(low.ctx.blocks) - 1)
    return order, low.ctx.static(start) if fixed else None, cells


def _size(ctx: Context, fixed: filled.Terms) -> Linear | None:
    """A sum of sizes that is surely not negative."""
    if any(len(m) > 1 for m in fixed):
        return None
    total = sum((linear(m[0]).times(c) for m, c in fixed.items() if m), Linear((), fixed.get((), 0)))
    return total if ctx.never_negative(total) else None


def cut(value: Py, count: Py) -> Py:
    """The first cells of an array, row by row."""
    return py.Sub(py.method(value, "ravel"), (Slice(None, count),))
