"""New arrays, and when they are made."""

from __future__ import annotations

from kraise.diagnostics import Span
from kraise.emit import tree
from kraise.emit.context import Assign, Context
from kraise.emit.lower import Lowering
from kraise.emit.stores import versions
from kraise.emit.text import python as py
from kraise.emit.text.linear import linear
from kraise.emit.text.python import Atom, Py
from kraise.ir import equations as eq


def new(low: Lowering, stmt: eq.New) -> None:
    """Declares a new array; it is made where its contents are first asked for, but at once if loads say what it holds:
    by then, other things may have been stored there."""
    ctx = low.ctx
    ctx.elements[stmt.version.array] = stmt.element
    ctx.extents[stmt.version.array] = stmt.shape
    ctx.ndim[stmt.version.array] = len(stmt.shape)
    if stmt.like:
        ctx.like[stmt.version.array] = stmt.like
    ctx.blocks[-1].bound.add(stmt.version)
    depth = len(ctx.blocks) - 1
    span: Span | None = stmt.span
    fill = stmt.fill
    blank = fill is None or (isinstance(fill, eq.Const) and fill.value == 0)

    def make() -> Py:
        # an array that the source does not make may be of no cells where it has no rounds
        own = "." in stmt.version.array
        sizes = [ctx.at_least_zero(linear(e)) if own else ctx.static(e) for e in stmt.shape]
        shape = sizes[0] if len(sizes) == 1 else py.Tup(tuple(sizes))
        dtype = dtype_of(ctx, stmt.version)
        if fill is None or blank:
            text = py.call("jnp.zeros", shape, dtype)
        else:
            text = py.call("jnp.full", shape, low.lower(fill, ()).py, dtype)
        name = ctx.names.fresh(stmt.version.array.split(".")[-1])
        ctx.emit(Assign(name, text, span), depth)
        return Atom(name)

    ctx.lazy[stmt.version] = make
    if blank:
        ctx.blank.add(stmt.version)
    if fill is not None and any(isinstance(n, eq.Read) for n in tree.walk(fill)):
        made = make()
        ctx.lazy[stmt.version] = lambda: made


def dtype_of(ctx: Context, version: eq.Version) -> Py:
    """The dtype of an array when it is made."""
    from kraise.emit.loops import carries

    made = carries.of_made(ctx, version.array, ctx.element(version.array)) if version.array in ctx.extents else None
    return made or versions.dtype_of(ctx, version)


__all__ = ["dtype_of", "new"]
