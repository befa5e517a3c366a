"""Arrays that hold a copy: ``v[i] = u[i]`` for all i, then ``v[1:-1] = u[1:-1] + e``, which adds ``e`` to the copy (the
gradient of such a store hands on what comes in; it need not be cleared first)."""

from __future__ import annotations

from kraise.emit import tree
from kraise.emit.context import Context
from kraise.emit.text.linear import Linear, linear
from kraise.ir import equations as eq
from kraise.ir.types import NUMBER


def source(ctx: Context, version: eq.Version, view: tuple[eq.Expr, ...]) -> eq.Version | None:
    """The array whose elements, of the same type, a version holds under a view; None if it is no copy."""
    found = _source(ctx, version)
    return found[0] if found is not None and found[1] == view else None


def _source(ctx: Context, version: eq.Version) -> tuple[eq.Version, tuple[eq.Expr, ...]] | None:
    made = next((s for s in tree.statements(ctx.kernel.body) if isinstance(s, eq.Write) and s.after is version), None)
    if made is None or made.accumulate or made.where is not None or made.safe or not isinstance(made.value, eq.Read):
        return None
    load, element = made.value, ctx.element(version.array)
    if load.subscripts != made.subscripts or load.view != made.view or load.safe or load.outside or load.limit:
        return None
    if element is NUMBER or ctx.element(load.version.array) != element:
        return None
    axes = {a.name: a for a in made.axes}
    names = [s.name for s in made.subscripts if isinstance(s, eq.Index)]
    extents = ctx.array_extents(made.before, made.view)
    if len(names) != len(made.subscripts) or len(set(names)) != len(names) or not set(names) <= set(axes):
        return None
    for name, extent in zip(names, extents, strict=True):
        axis = axes[name]
        if axis.step != 1 or not linear(axis.lo).same(Linear()) or not linear(axis.hi).same(extent):
            return None
    return load.version, made.view


__all__ = ["source"]
