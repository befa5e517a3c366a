"""One index array among slices, ``A[idx[:n], 1:]``: rows are gathered, not cells, and the array keeps its place."""

from __future__ import annotations

from kraise.emit.context import Context, Frame, Val
from kraise.emit.loads.dims import Blocks, Clamp, Dim, Gather, Range, Roll, Scalar
from kraise.emit.loads.moving import moves
from kraise.emit.loads.one_cell import with_one
from kraise.emit.loads.subscripts import reshaped, slice_item, subscripted, wide
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear
from kraise.emit.text.python import Atom, Py
from kraise.ir import equations as eq


def one_gather(
    low: Lowering, base: Py, dims: list[Dim], extents: tuple[Linear, ...], frame: Frame, node: eq.Read
) -> Val | None:
    """``A[idx[:n], 1:]``: one index array among slices keeps its place."""
    if node.safe and not all(_kept(low.ctx, d, e) for d, e in zip(dims, extents, strict=True)):
        return None
    gathers = [d for d in dims if isinstance(d, Gather)]
    if len(gathers) != 1 or any(isinstance(d, Scalar | Roll | Clamp) or moves(low.ctx, d) for d in dims):
        return None
    gather = gathers[0]
    axes = [d.axis for d in dims if isinstance(d, Range)]
    axes += [a for d in dims if isinstance(d, Blocks) for a in (d.outer, d.inner)]
    if len(set(axes)) != len(axes) or set(axes) & set(gather.axes):
        return None
    if any(d.backward for d in dims if isinstance(d, Range)):
        return None
    items: list[Py] = []
    own: list[eq.Axis] = []
    for dim, extent in zip(dims, extents, strict=True):
        if isinstance(dim, Range):
            items.append(slice_item(low.ctx, dim, extent)[0])
            own.append(dim.axis)
        elif isinstance(dim, Blocks):
            items.append(slice_item(low.ctx, Range(dim.inner, dim.start, dim.stop, 1), extent)[0])
            own += [dim.outer, dim.inner]
        elif isinstance(dim, Gather):
            items.append((wide(low, dim.expr, dim.axes) if node.safe else low.lower(dim.expr, dim.axes)).py)
            own.extend(dim.axes)
    if node.safe:  # brought inside by XLA itself, see :func:`subscripts._gather`
        base = py.Attr(with_one(low.ctx, base, node, extents, frame), "at")
    array = subscripted(base, items)
    array = py.method(array, "get", mode=Atom('"clip"')) if node.safe else array
    return low.extend(reshaped(low.ctx, array, dims, tuple(own)), tuple(own), frame)


def _kept(context: Context, dim: Dim, extent: Linear) -> bool:
    """Whether a place stays within its extent where a mask is over it, or is brought there."""
    if isinstance(dim, Range):
        return context.never_negative(dim.start) and context.never_negative(extent - dim.stop)
    return isinstance(dim, Gather)


__all__ = ["one_gather"]
