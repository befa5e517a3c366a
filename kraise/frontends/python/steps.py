"""Every s-th element of an array, for an s that is no constant: ``a[start:stop:s] = v`` is a loop in steps of s.

Side conditions: one axis, one number into all of its places, and no element of an array as the step. The loop is
raised where s is surely positive (it is the index of a loop that begins at 1 or later, say) or a parameter, of which
that is checked: for a step below zero a slice has other ends than a loop, and a step of 0 raises.
"""

from __future__ import annotations

import libcst as cst

from kraise.frontends.python import elementwise, subscripts
from kraise.frontends.python import expressions as ex
from kraise.frontends.python.scope import Scope
from kraise.frontends.python.source import all_of
from kraise.ir.kernel import Const, For, Stmt, Store, Var
from kraise.ir.types import INT


def store(
    scope: Scope, target: cst.Subscript, value: cst.BaseExpression, node: cst.CSTNode, name: str = ""
) -> list[Stmt] | None:
    """``a[start:stop:s] = v``, or ``+= v`` and the like for an operation ``name``; None for anything else."""
    match target.slice:
        case [cst.SubscriptElement(slice=cst.Slice(step=cst.BaseExpression() as given) as places)]:
            pass
        case _:
            return None
    if elementwise.operand(scope, value) is not None or all_of(cst.Call | cst.Subscript, given):
        return None
    step = ex.scalar(scope, given)
    if isinstance(step, Const):
        return None
    whole = ex.access(scope, target.value)
    if whole is None or whole.rank != 1:
        return None
    span = scope.span(node)
    (extent,) = scope.extents(whole, node)
    start, stop = subscripts.bounds(scope, places, extent)
    held = ex.scalar(scope, value)
    (index,) = elementwise.fresh_indices(scope, 1)
    scope.numbers += [(n, (index,)) for n in sorted(ex.values(held))]
    if whole.array in ex.variables(held)[1]:
        held = scope.frozen(held, "value", node)
    at = whole.at((Var(index, INT, span=span),))
    stored = ex.op(name, ex.load(scope, at, node), held, span=span) if name else held
    body = Store(whole.array, at.subscripts, stored, span=span)  # type: ignore[arg-type]
    return [For(index, start, stop, step, (body,), False, INT, span=span)]


__all__ = ["store"]
