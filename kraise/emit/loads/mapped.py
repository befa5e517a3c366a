"""A kernel with its expressions rewritten before it is written out; the source's names follow the values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from kraise.ir import equations as eq

Axes = tuple[eq.Axis, ...]


def mapped(kernel: eq.Kernel, fn: Callable[[eq.Expr, Axes], eq.Expr]) -> eq.Kernel:
    """The kernel with ``fn`` of each value, mask and condition, which gets the axes over which it is one, too."""

    def statement(s: eq.Stmt) -> eq.Stmt:
        match s:
            case eq.Write(value=value, where=where, axes=axes):
                return replace(s, value=fn(value, axes), where=None if where is None else fn(where, axes))
            case eq.Fold():
                return replace(
                    s,
                    scalars=tuple(replace(c, init=fn(c.init, c.axes), update=fn(c.update, c.axes)) for c in s.scalars),
                    outputs=tuple(replace(o, value=fn(o.value, o.axes)) for o in s.outputs),
                    body=tuple(map(statement, s.body)),
                )
        return s

    return replace(kernel, body=tuple(map(statement, kernel.body)))


def named(kernel: eq.Kernel, changed: Iterable[tuple[eq.Expr, eq.Expr]]) -> eq.Kernel:
    """The kernel with the names of values for what has become of these."""
    wishes = {n.expr: n for n in kernel.names}
    names = [replace(wishes[old], expr=new) for old, new in changed if old is not new and old in wishes]
    return replace(kernel, names=(*kernel.names, *dict.fromkeys(names)))


__all__ = ["Axes", "mapped", "named"]
