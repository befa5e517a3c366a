"""Two stores that set the two halves of an axis of a view, as one ``stack``: the stage of a butterfly.

``v[:, :h] = p + q; v[:, h:] = p - q`` copies the array once where the two updates copy it twice, and its gradient takes
a third of the time. Cells that a mask leaves out keep what they held. The first store is kept back as a value until the
second one comes; nothing may ask for the array in between (see :mod:`kraise.emit.stores.joined`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kraise.emit.context import Context, Frame
from kraise.emit.loads import subscripts as subs
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.python import Py
from kraise.ir import equations as eq


def half(ctx: Context, stmt: eq.Write, framed: tuple[Frame, Frame]) -> tuple[int, int] | None:
    """The axis of which the store sets a half, and which one; None if it sets other cells."""
    if len(stmt.view) < 2 or stmt.segments or stmt.accumulate not in ("", "add", "mul"):
        return None
    if stmt.where is not None and (stmt.accumulate == "mul" or _scaled(stmt)):
        return None  # the factor alone is masked: what it is multiplied with may be an infinity there
    frame, rest = framed
    extents = ctx.array_extents(stmt.before, stmt.view)
    dims = [subs.classify(ctx, s, e, frame) for s, e in zip(stmt.subscripts, extents, strict=True)]
    if rest or (stmt.safe and not subs.filled(ctx, stmt.before, stmt.view, dims, extents)):
        return None
    found: tuple[int, int] | None = None
    for at, (dim, extent) in enumerate(zip(dims, extents, strict=True)):
        match dim:
            case subs.Range(start=start, stop=stop, step=1, backward=False):
                if start.same(Linear()) and stop.same(extent):
                    continue
                which = 0 if start.same(Linear()) and stop.times(2).same(extent) else 1
                if found is not None or (which and not (start.times(2).same(extent) and stop.same(extent))):
                    return None
                found = at, which
            case _:
                return None
    return found


def _scaled(stmt: eq.Write) -> bool:
    """Whether the store multiplies its cells."""
    held = stmt.value.args if isinstance(stmt.value, eq.Op) and stmt.value.name == "mul" else ()
    return any(isinstance(a, eq.Read) and (a.subscripts, a.view) == (stmt.subscripts, stmt.view) for a in held)


def fill(
    ctx: Context, one: eq.Write, other: eq.Write, framed: Callable[[Context, eq.Write], tuple[Frame, Frame]]
) -> bool:
    """Whether two stores set the two halves of one axis."""
    first, second = (half(ctx, s, framed(ctx, s)) for s in (one, other))
    return first is not None and one.view == other.view and second == (first[0], 1 - first[1])


def cells(low: Lowering, stmt: eq.Write, frame: Frame, before: eq.Version) -> Py:
    """What the cells of the store hold after it; ``before`` is the array without either store."""
    value = stmt.value
    if stmt.accumulate or stmt.where is not None:
        old = eq.Read(before, stmt.subscripts, value.type, stmt.view)
        old = next((n for n in low.ctx.uses if isinstance(n, eq.Read) and _same_cells(low.ctx, n, old)), old)
        value = eq.Op(stmt.accumulate, (old, value), value.type) if stmt.accumulate else value
        value = value if stmt.where is None else eq.Op("select", (stmt.where, value, old), value.type)
    found = low.lower(value, frame)
    return found.py if found.axes == frame else py.call("jnp.broadcast_to", found.py, low.ctx.shape_of(frame))


def _same_cells(ctx: Context, load: eq.Read, old: eq.Read) -> bool:
    """Whether a masked load of the other half is of these cells: one slice for both (measured on a stage of a Walsh
    transform: the gradient takes 0.4 of the time)."""
    if replace(load, safe=False, outside=()) != old:
        return False
    extents = ctx.array_extents(load.version, load.view)
    return all(o is None or linear(o.limit).same(e) for o, e in zip(load.outside, extents, strict=False))


def stacked(low: Lowering, stmt: eq.Write, before: eq.Version, axis: int, halves: tuple[Py, Py], as_it_is: bool) -> Py:
    """The view made of its halves, which stays ``as_it_is`` or is cast next (a chain of two calls reads worse)."""
    shape = py.Attr(subs.viewed(low.ctx, before, stmt.view), "shape")
    stack = py.call("jnp.stack", py.Tup(halves), axis=py.number(axis))
    return py.method(stack, "reshape", shape) if as_it_is else py.call("jnp.reshape", stack, shape)


__all__ = ["cells", "fill", "half", "stacked"]
