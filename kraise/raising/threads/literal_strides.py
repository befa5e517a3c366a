"""Loops of a block's threads whose stride is a number: ``for (j = threadIdx.x; j < n; j += 256)`` (raising.md, step 2).

Where the equations still ask which thread takes which round, the result depends on how many threads a block has, and
the source says how many: as many as the stride.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.ir.walk import topological
from kraise.raising.threads.indices import Ways
from kraise.raising.threads.sizes import thread_axis, thread_locals


def strides(body: tuple[k.Stmt, ...], left: Iterable[eq.Expr]) -> Ways:
    """By axis: the stride that the equations' expressions (``left``) still ask about, as a size to try."""
    asked = {
        e.args[1].value
        for e in topological(left)
        if isinstance(e, eq.Op) and e.name == "mod" and isinstance(e.args[1], eq.Const)
    }
    names = thread_locals(body)
    found: Ways = {}
    for s in walked(body):
        match s:
            case k.For(start=start, step=k.Const(value=int(by))) if by > 1 and by in asked:
                axis = thread_axis(start, names)
                if axis is not None:
                    found[axis] = -by
    return found


__all__ = ["strides"]
