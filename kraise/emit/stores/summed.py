"""A sum of what has just been stored to a part of an array is one of the values themselves.

``r[i] -= a * q[i]; s += r[i] * r[i]`` for i < n: the sum would wait for the array, of which it is a part, to be put
together. The side conditions: the store is to all of its cells, over indices of the sum, and its value has the
element's type, so that nothing is rounded on the way. (Measured on half a million elements: 0.8 of the time.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from kraise.emit import tree
from kraise.emit.loads.mapped import Axes, mapped
from kraise.ir import equations as eq
from kraise.ir.walk import transform


def of_values(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such sums, and the stores of what they add up."""
    for at in range(len(kernel.body)):
        stmt = kernel.body[at]
        value = _value(stmt)
        if value is None or not isinstance(stmt, eq.Write):
            continue
        cell = eq.Read(stmt.after, stmt.subscripts, value.type, stmt.view)
        sums = {n: _with(n, cell, value) for s in kernel.body[at + 1 :] for n in _sums(s, stmt.axes, cell)}
        if not sums:
            continue
        kernel = mapped(kernel, partial(_summed, sums))
        stored = replace(stmt, value=value, accumulate="")
        name = eq.Name(value, stmt.after.array.split(".")[-1] + "_new")
        names = kernel.names if any(n.expr is value for n in kernel.names) else (*kernel.names, name)
        kernel = replace(kernel, body=(*kernel.body[:at], stored, *kernel.body[at + 1 :]), names=names)
    return kernel


def _summed(sums: dict[eq.Expr, eq.Expr], value: eq.Expr, axes: Axes) -> eq.Expr:
    return transform(value, lambda n: n, dict(sums))


def _value(stmt: eq.Stmt) -> eq.Expr | None:
    """What a store puts into a part of an array, where nothing but its indices says where."""
    match stmt:
        case eq.Write(accumulate="" | "add" as how, where=None, covers=False, safe=False, segments=False, value=value):
            pass
        case _:
            return None
    kind, named = value.type, [s.name for s in stmt.subscripts if isinstance(s, eq.Index)]
    if sorted(named) != sorted(a.name for a in stmt.axes) or len(named) < len(stmt.subscripts):
        return None
    if kind.kind != "float" or kind.bits is None or not isinstance(value, eq.Op):
        return None
    if how:
        old = eq.Read(stmt.before, stmt.subscripts, kind, stmt.view)
        match value:
            case eq.Op(name="neg", args=(less,)):
                return eq.Op("sub", (old, less), kind)
        return eq.Op("add", (old, value), kind)
    return value


def _sums(stmt: eq.Stmt, axes: tuple[eq.Axis, ...], cell: eq.Read) -> Iterator[eq.Expr]:
    """The sums over the indices of a store that have its cell."""
    if isinstance(stmt, eq.Write):
        for n in tree.walk(stmt.value):
            if isinstance(n, eq.Reduce) and n.op == "add" and {*axes} <= {*n.axes} and cell in tree.walk(n.body):
                bound = {a.name for part in tree.walk(n.body) for a in tree.axes_of(part)}
                if not bound & {a.name for a in axes}:
                    yield n


def _with(node: eq.Expr, cell: eq.Expr, value: eq.Expr) -> eq.Expr:
    return transform(node, lambda n: n, {cell: value})


__all__ = ["of_values"]
