"""A store to the first cells of an array before one to all of it, each under a mask, is over all cells itself.

``x[i] += b for i < threads where m; x[i] = c for all i where k``: two choices in one loop over the array, where an
update of its first part and a choice would be two (measured on a butterfly: the gradient takes 0.45 of the time). The
side conditions: what is stored first is made of sums and differences only, which are finite in the cells that it leaves
alone, and nothing in it is loaded beyond the array but under a mask of its own.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.emit import tree
from kraise.emit.stores.merge import users
from kraise.emit.text.linear import Linear, linear
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT, INT32


def widened(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such stores over all cells."""
    body, uses = list(kernel.body), None
    for at, (first, second) in enumerate(zip(kernel.body, kernel.body[1:], strict=False)):
        if isinstance(first, eq.Write) and isinstance(second, eq.Write) and second.before is first.after:
            every = _all(second)
            wide = None if every is None else _over_all(first, every)
            uses = users(kernel) if uses is None else uses
            if wide is not None and uses[first.after] == 1:
                body[at] = wide
    return kernel if tuple(body) == kernel.body else replace(kernel, body=tuple(body))


def _all(stmt: eq.Write) -> eq.Axis | None:
    """The index of a store that is made to all cells of a flat array, under a mask."""
    if len(stmt.axes) != 1 or stmt.view or stmt.segments or stmt.where is None or stmt.accumulate:
        return None
    (axis,) = stmt.axes
    whole = linear(axis.lo).same(Linear()) and linear(axis.hi).same(linear(eq.Shape(stmt.before.array, 0, INT32)))
    return axis if whole and axis.step == 1 and stmt.subscripts == (eq.Index(axis.name, INT),) else None


def _over_all(stmt: eq.Write, every: eq.Axis) -> eq.Write | None:
    if len(stmt.axes) != 1 or stmt.view or stmt.segments or stmt.where is None or stmt.accumulate not in ("", "add"):
        return None
    (axis,) = stmt.axes
    index = eq.Index(axis.name, INT)
    kind = stmt.value.type
    if axis.step != 1 or not linear(axis.lo).same(Linear()) or stmt.subscripts != (index,):
        return None
    if linear(axis.hi).same(linear(every.hi)) or kind.kind != "float" or kind.bits is None:
        return None
    old = eq.Read(stmt.before, stmt.subscripts, kind)
    value = eq.Op("add", (old, stmt.value), kind) if stmt.accumulate else stmt.value
    if not all(_finite(n, stmt) for n in tree.walk(value)):
        return None
    where = eq.Op("and", (eq.Op("lt", (index, axis.hi), BOOL), stmt.where), BOOL)
    wide = replace(axis, hi=every.hi)
    return replace(stmt, axes=(wide,), value=value, where=where, accumulate="", safe=False)


def _finite(node: eq.Expr, stmt: eq.Write) -> bool:
    """Whether a part of a value is harmless in every cell: a load of the cell, one that a mask keeps, a sum."""
    match node:
        case eq.Read(safe=safe, subscripts=subscripts, version=version):
            return safe or (version is stmt.before and subscripts == stmt.subscripts)
        case eq.Op(name="add" | "sub" | "neg") | eq.Const() | eq.Param() | eq.Shape() | eq.Index() | eq.Cast():
            return True
    return isinstance(node, eq.Op) and node.type.is_integer and node.name in ("xor", "and_", "or_", "mul")


__all__ = ["widened"]
