"""Stores by block and thread under a guard on their flat position: what all threads have, cut off at the guard.

``if b * block + t < n: y[b * block + t] = v`` is ``y.at[:n].set(v.ravel()[:n])`` (n no more than there are threads): no
index array, no mask.
"""

from __future__ import annotations

from kraise.emit.context import Frame
from kraise.emit.loads import filled
from kraise.emit.loads.masks import conjuncts
from kraise.emit.loads.views import expression
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.python import Py, Slice
from kraise.ir import equations as eq


def part(low: Lowering, stmt: eq.Write) -> tuple[Frame, Py] | None:
    """The axes of such a store, and the text of the number of cells; None for other stores."""
    if len(stmt.subscripts) != 1 or stmt.view or stmt.where is None:
        return None
    place = filled.terms(stmt.subscripts[0])
    order = filled.digits(place, stmt.axes)
    if order is None:
        return None
    found, only = filled.limits(place, conjuncts(stmt.where))
    if not only or not all(f.same(found[0]) for f in found):
        return None
    extents = tuple(a.hi for a in order)
    return order, filled.count(low.ctx, extents, expression(found[0]), len(low.ctx.blocks) - 1)


def cut(value: Py, count: Py) -> Py:
    """The first cells of an array, row by row."""
    return py.Sub(py.method(value, "ravel"), (Slice(None, count),))
