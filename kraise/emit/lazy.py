"""A choice that sizes decide, of which one arm may only be read if it is chosen: a conditional expression of Python."""

from __future__ import annotations

from typing import TypeGuard

from kraise.emit import tree
from kraise.emit.context import Context, Frame, Val
from kraise.emit.lower import Lowering
from kraise.emit.sums import reductions
from kraise.emit.text import python as py
from kraise.ir import equations as eq


def choice(low: Lowering, node: eq.Op, frame: Frame) -> Val | None:
    """``x[n - 1] if n > 0 else 0.0`` for a select on sizes with a fixed position in an arm, else None."""
    condition, a, b = node.args
    ctx = low.ctx
    if not sized(ctx, condition) or not (fragile(a) or fragile(b)):
        return None
    ctx.lazy_arms += 1
    for n in tree.walk(a):
        if _extremum(n) and ctx.uses[n] <= 1 and reductions.some_values(ctx, n, frame) == ctx.static(condition):
            ctx.nonempty.add(n)
    try:
        then, orelse = low.lower(a, frame), low.lower(b, frame)
    finally:
        ctx.lazy_arms -= 1
    wide = max(then, orelse, key=lambda v: v.rank)
    if {then.axes, orelse.axes} - {wide.axes, ()} or wide.rank != len(wide.axes):
        return None
    texts = [
        v.py if v.axes == wide.axes else py.call("jnp.full", ctx.shape_of(wide.axes), v.py) for v in (then, orelse)
    ]
    return Val(py.IfExp(ctx.static(condition), *texts), wide.axes, wide.rank)


def sized(ctx: Context, condition: eq.Expr) -> bool:
    """Whether a condition speaks of sizes alone: shapes, and parameters that are static whatever it says."""
    atoms = [n for n in tree.walk(condition) if not isinstance(n, eq.Op | eq.Const)]
    known = all(isinstance(n, eq.Shape) or (isinstance(n, eq.Param) and n.name in _bounds(ctx)) for n in atoms)
    return bool(atoms) and known and ctx.is_static(condition)


def fragile(node: eq.Expr) -> bool:
    """Whether a value reads a fixed position of an array, or is an extremum: both raise where there is nothing."""
    return any(
        any(_fixed(s) for s in n.subscripts) if isinstance(n, eq.Read) else _extremum(n) for n in tree.walk(node)
    )


def _extremum(node: eq.Expr) -> TypeGuard[eq.Reduce]:
    return isinstance(node, eq.Reduce) and node.op in ("min", "max")


def _fixed(subscript: eq.Expr) -> bool:
    return all(isinstance(n, eq.Const | eq.Shape | eq.Param | eq.Op) for n in tree.walk(subscript))


def _bounds(context: Context) -> set[str]:
    """The parameters that are bounds of an axis: static whatever else they are."""
    if context.sizes is None:
        axes: list[eq.Axis] = []
        for stmt in tree.statements(context.kernel.body):
            if isinstance(stmt, eq.Write):
                axes += stmt.axes
            elif isinstance(stmt, eq.Fold) and stmt.axis is not None:
                axes.append(stmt.axis)
            for node in tree.walk(*tree.statement_roots(stmt)):
                axes += tree.axes_of(node)
        bounds = (n for a in axes for n in tree.walk(a.lo, a.hi))
        context.sizes = {n.name for n in bounds if isinstance(n, eq.Param)}
    return context.sizes
