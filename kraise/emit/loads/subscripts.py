"""Loads: subscripts are classified once, and a load is sliced, transposed and ``None``-extended in one place.

An affine subscript in one index is a slice, an integer an integer, ``(i + c) % n`` over the whole extent a roll;
everything else is a gather, for which all subscripts become index arrays that broadcast against each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kraise.emit.context import Assign, Context, Frame, Val
from kraise.emit.loads import diagonals, moving, window_stacks
from kraise.emit.loads.backwards import of_one_number
from kraise.emit.loads.blocked import Blocks, blocks, reshaped
from kraise.emit.loads.dims import Clamp, Dim, Gather, Range, Roll, Scalar, classify, leaves_row, step_of, turned
from kraise.emit.loads.filled import (
    by_launch,
    column,
    filled_up,
    holds_all,
    none_negative,
    one_or_more,
    view_size,
)
from kraise.emit.loads.moving import moves
from kraise.emit.loads.one_cell import doubted, with_one
from kraise.emit.loads.padding import repeating
from kraise.emit.loads.repeated import repeated
from kraise.emit.loads.wide import wide
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text import tiles
from kraise.emit.text.linear import Linear, linear, nonnegative
from kraise.emit.text.python import ALL, NONE, Atom, Py, Slice
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT, NUMBER


def slice_item(context: Context, dim: Range, extent: Linear) -> tuple[Py, bool]:
    """The slice for a range, and whether a reversal is still to be done by a second subscript."""
    lo = None if dim.start.same(Linear()) else bound(context, dim.start, extent)
    gap, hi = extent - dim.stop, None
    if not gap.terms and gap.constant > 0:
        length, end = (dim.stop - dim.start).constant, dim.stop.constant
        few = end < gap.constant or (gap.constant > 2 and 2 * length < extent.constant)
        near = few and not dim.stop.terms and not dim.start.terms and end >= 0  # 16 of 128, not all but 112
        hi = py.number(dim.stop.constant if near else -gap.constant)
    elif gap.terms:
        hi = bound(context, dim.stop, extent)
    if dim.backward:
        if lo is None and hi is None:
            return Slice(None, None, turned(dim)), False
        return Slice(lo, hi), True
    return (ALL if lo is None and hi is None and dim.step == 1 else Slice(lo, hi, step_of(context, dim))), False


def bound(context: Context, value: Linear, extent: Linear) -> Py:
    """A slice bound that never becomes a wrap from the end by accident."""
    back = extent - value
    if extent.terms and not back.terms and back.constant > 0:
        return py.number(-back.constant)
    if not value.terms:
        return py.number(max(value.constant, 0))
    return context.at_least_zero(value)


# --- reading -----------------------------------------------------------------------------------


def read(low: Lowering, node: eq.Read, frame: Frame) -> Val:
    """A load as an array aligned with ``frame``."""
    ctx = low.ctx
    if node.version.array in ctx.tables and all(isinstance(s, eq.Const) for s in (*node.subscripts, *node.view[1:])):
        return Val(ctx.table_entry(node), (), 0)
    padded, top = node.safe and (node.limit is not None or by_launch(node.view)), node.limit
    if padded:  # the last rows are filled up: no digit of the flat subscript leaves them
        behind = len(ctx.array_extents(node.version, ())) - 1
        leaves = any(isinstance(s, eq.Op) for s in node.subscripts[len(node.subscripts) - behind :])
        if not by_launch(node.view[1:]):  # rows that the launch only counts: their columns may leave them
            leaves |= any(leaves_row(s, n, frame) for s, n in zip(node.subscripts[1:], node.view[1:], strict=False))
        node = replace(node, safe=leaves, limit=None)
    one = column(ctx, node, top, behind) if padded and top is not None else None
    base, node = one or (viewed(ctx, node.version, node.view, padded, top), node)
    base = base if node.view else ctx.wide.get(node.version, base)
    extents = ctx.array_extents(node.version, node.view)
    if not node.subscripts:
        return Val(base, (), 0)
    turned_round = None if node.safe else diagonals.unskewed(low, base, node, extents, frame)
    if (whole := turned_round or window_stacks.stacked(low, node, frame)) is not None:
        return whole
    if node.outside:
        from kraise.emit.loads.padding import padded as with_zeros

        base, subscripts, extents = with_zeros(low, node, base, extents)
        node = eq.Read(node.version, subscripts, node.type, node.view)
    dims = [classify(ctx, s, e, frame) for s, e in zip(node.subscripts, extents, strict=True)]
    dims = [
        (blocks(ctx, s, d.axes) or d) if isinstance(d, Gather) else d
        for s, d in zip(node.subscripts, dims, strict=True)
    ]
    if of_one_number(ctx, node.version, dims):
        return _gather(low, base, node, extents, frame)
    doubted(ctx, dims, extents)
    if any(isinstance(d, Roll) for d in dims) and any(isinstance(d, Scalar) for d in dims) and not node.safe:
        # the row first, then the roll of it
        places = [
            position(low, d.expr, e, False) if isinstance(d, Scalar) else ALL
            for d, e in zip(dims, extents, strict=True)
        ]
        left = [at for at, d in enumerate(dims) if not isinstance(d, Scalar)]
        base, dims = subscripted(base, places), [dims[at] for at in left]
        extents = tuple(extents[at] for at in left)
        node = eq.Read(node.version, tuple(node.subscripts[at] for at in left), node.type, node.view)
    if not node.safe:
        base, dims, extents = repeated(ctx, base, dims, extents)
    clamps = any(isinstance(d, Clamp) for d in dims)
    if clamps and any(isinstance(d, Scalar) for d in dims):
        return _gather(low, base, node, extents, frame)  # padding the whole array for one row would be a waste
    leaves = node.safe and not filled(ctx, node.version, node.view, dims, extents)
    if _basic(dims) and not (leaves and any(not isinstance(d, Scalar) for d in dims)):
        base = with_one(ctx, base, node, extents, frame) if leaves else base
        return _slices(low, base, dims, extents, frame, leaves)
    from kraise.emit.loads.rolls import by_table

    rows = by_table(low, base, node, extents, frame)
    if rows is not None:
        return rows
    from kraise.emit.loads.sliding import sliding, sliding_box

    if (box := sliding_box(low, base, node, dims, extents, frame)) is not None:
        return box
    if len(dims) == 1:
        from kraise.emit.loads.numerals import rearranged
        from kraise.emit.loads.strided import strided

        rows = sliding(low, base, node, extents[0], frame)
        if rows is None and not node.safe:
            rows = strided(low, base, node.subscripts[0], frame) or rearranged(low, base, node, frame)
        if rows is not None:
            return rows
    if not node.safe and (down := diagonals.along(ctx, base, dims, extents)) is not None:
        return low.extend(*down, frame)
    from kraise.emit.loads.one_gather import one_gather

    return one_gather(low, base, dims, extents, frame, node) or _gather(low, base, node, extents, frame)


def _basic(dims: list[Dim]) -> bool:
    axes = [d.axis for d in dims if isinstance(d, Range | Roll | Clamp)]
    axes += [a for d in dims if isinstance(d, Blocks) for a in (d.outer, d.inner)]
    return not any(isinstance(d, Gather) for d in dims) and len(set(axes)) == len(axes)


def _slices(low: Lowering, base: Py, dims: list[Dim], extents: tuple[Linear, ...], frame: Frame, safe: bool) -> Val:
    base = _rolled(low, base, dims)
    if any(moves(low.ctx, d) for d in dims):
        return _moving(low, base, dims, extents, frame)
    items: list[Py] = []
    own: list[eq.Axis] = []
    backward: list[Py] = []
    for dim, extent in zip(dims, extents, strict=True):
        match dim:
            case Scalar(expr=expr):
                items.append(position(low, expr, extent, safe))
            case Range(axis=axis):
                item, again = slice_item(low.ctx, dim, extent)
                items.append(item)
                own.append(axis)
                backward.append(Slice(None, None, turned(dim)) if again else ALL)
            case Blocks():
                items.append(slice_item(low.ctx, Range(dim.inner, dim.start, dim.stop, 1), extent)[0])
                own += [dim.outer, dim.inner]
                backward.append(ALL)
            case Clamp(axis=axis):
                items.append(dim.cells(low.ctx))
                own.append(axis)
                backward.append(ALL)
            case Roll(axis=axis):
                items.append(ALL)
                own.append(axis)
                backward.append(ALL)
    order = tuple(a for a in frame if a in own)
    whole = any(isinstance(d, Blocks) for d in dims)
    if order == tuple(own) and all(b == ALL for b in backward) and not whole:
        start = frame.index(order[0]) if order else len(frame)
        out: list[Py] = []
        axes = iter(frame[start:])
        for item, dim in zip(items, dims, strict=True):
            if not isinstance(dim, Scalar):
                while next(axes) is not dim.axis:  # type: ignore[union-attr]
                    out.append(NONE)
            out.append(item)
        out += [NONE] * len(tuple(axes))
        return Val(subscripted(base, out), order, len(frame) - start)
    array = subscripted(base, items)
    if any(b != ALL for b in backward):
        array = subscripted(array, backward)
    return low.extend(reshaped(low.ctx, array, dims, tuple(own)), tuple(own), frame)


def _moving(low: Lowering, base: Py, dims: list[Dim], extents: tuple[Linear, ...], frame: Frame) -> Val:
    """Slices whose places move with the index of a loop: what is at fixed places is taken first."""
    items: list[Py] = []
    for dim, extent in zip(dims, extents, strict=True):
        if isinstance(dim, Scalar):
            items.append(position(low, dim.expr, extent, False))
        elif isinstance(dim, Range) and not dim.backward and not moves(low.ctx, dim):
            items.append(slice_item(low.ctx, dim, extent)[0])
        else:
            items.append(ALL)
    left = [d for d in dims if not isinstance(d, Scalar)]
    own = tuple(d.axis for d in left if isinstance(d, Range))
    return low.extend(moving.sliced(low.ctx, subscripted(base, items), left), own, frame)


def subscripted(array: Py, items: list[Py]) -> Py:
    """``array[items]`` without trailing full slices; the array itself if they are all full."""
    while items and items[-1] == ALL:
        items = items[:-1]
    return py.Sub(array, tuple(items)) if items else array


def _rolled(low: Lowering, base: Py, dims: list[Dim]) -> Py:
    rolls = [(k, d.shift) for k, d in enumerate(dims) if isinstance(d, Roll) and not d.shift.same(Linear())]
    cut = [d.part if isinstance(d, Roll | Clamp) else None for d in dims]
    parts: list[Py] = [ALL if p is None else Slice(None, low.ctx.static(p)) for p in cut]
    base = subscripted(base, parts)
    for k, shift in rolls:
        base = py.call("jnp.roll", base, low.ctx.static(-shift), **({"axis": py.number(k)} if len(dims) > 1 else {}))
    if any(isinstance(d, Clamp) for d in dims):
        sides = [(d.before, d.after) if isinstance(d, Clamp) else (0, 0) for d in dims]
        widths = [py.Tup(tuple(map(py.number, s))) for s in sides]
        width: Py = widths[0] if len(widths) == 1 else py.Tup(tuple(widths))
        width = py.number(sides[0][0]) if len({w for s in sides for w in s}) == 1 else width
        sizes = [linear(d.axis.hi) - linear(d.axis.lo) for d in dims if isinstance(d, Clamp)]
        base = py.call("jnp.pad", base, width, mode=repeating(low.ctx, "edge", sizes))
    return base


def position(low: Lowering, expr: eq.Expr, extent: Linear, safe: bool, stored: bool = False) -> Py:
    """One position along an axis. ``x[n - 3]`` of two elements is the last one in Python; JAX takes the first for
    ``x[-3]``, and stores nothing there."""
    form = linear(expr)
    back = extent - form
    if extent.terms and not back.terms and back.constant > 0:
        within = 1 if stored else 2  # of these there is one, whatever the size
        if low.ctx.language != "python" or back.constant <= within or nonnegative(extent + -back.constant):
            return py.number(-back.constant)
    if not form.terms:
        return py.number(form.constant if low.ctx.language == "python" else max(form.constant, 0))
    return clipped(low.ctx, wide(low, expr, ()).py, extent) if safe else low.lower(expr, ()).py


def clipped(context: Context, text: Py, extent: Linear) -> Py:
    """A position brought inside ``[0, extent - 1]``; Python's count from the end, too."""
    first = extent.times(-1) if context.language == "python" else Linear()
    return py.call("jnp.clip", text, context.static(first), context.static(extent + -1))


def _gather(low: Lowering, base: Py, node: eq.Read, extents: tuple[Linear, ...], frame: Frame) -> Val:
    base = with_one(low.ctx, base, node, extents, frame) if node.safe else base
    items, values = index_arrays(low, node.subscripts, extents, frame, node.safe)
    wide = max((v.rank for v in values), default=0)
    axes = tuple(a for a in frame if any(a in v.axes for v in values))
    bare = tuple(v.py if v.axes else i for v, i in zip(values, items, strict=True))
    if bare != tuple(items):  # XLA brings places inside by itself (0.85 of the time); below 0 it is some other place
        return Val(py.method(py.Sub(py.Attr(base, "at"), bare), "get", mode=Atom('"clip"')), axes, wide)
    return Val(py.Sub(base, bare), axes, wide)


def index_arrays(
    low: Lowering, subscripts: tuple[eq.Expr, ...], extents: tuple[Linear, ...], frame: Frame, safe: bool
) -> tuple[list[Py], list[Val]]:
    """Every subscript as an index array aligned with ``frame`` (or an integer)."""
    items: list[Py] = []
    values: list[Val] = []
    for s, extent in zip(subscripts, extents, strict=True):
        value = wide(low, s, frame) if safe else low.lower(s, frame)
        values.append(value)
        if not value.axes:
            items.append(position(low, s, extent, safe))
        else:
            items.append(clipped(low.ctx, value.py, extent) if safe and not _inside(s, extent, frame) else value.py)
    return items, values


def _inside(subscript: eq.Expr, extent: Linear, frame: Frame) -> bool:
    """Whether a subscript of one index stays within the extent over the whole range of the index."""
    form = linear(subscript)
    axis = next((a for a in frame if len(form.terms) == 1 and form.terms[0][0] is eq.Index(a.name, INT)), None)
    if axis is None or form.terms[0][1] != 1:
        return False
    return nonnegative(linear(axis.lo) + form.constant) and nonnegative(extent - linear(axis.hi) - form.constant)


# --- views -------------------------------------------------------------------------------------


def viewed(
    context: Context,
    version: eq.Version,
    view: tuple[eq.Expr, ...],
    padded: bool = False,
    limit: eq.Outside | None = None,
) -> Py:
    """The array itself, or the variable of a flat array under ``view`` (made once a version), filled up with zeros
    (from ``limit`` on, or from its end) if ``padded``."""
    if not view:
        return context.array(version)
    key = ("view", version, (*view, limit or eq.Const(True, BOOL)) if padded else view)
    for block in context.blocks:
        known = block.variables.get(key)
        if known is not None:
            return Atom(known[0])
    array = context.array(version)
    depth = next((d for d, b in enumerate(context.blocks) if version in b.bound), 0)
    name = context.names.fresh(f"{version.array.split('.')[-1]}{len(view)}")
    shown = tuple(none_negative(context, v) for v in view)
    extents = tuple(context.static(v) for v in shown)
    part = flat_part(context, array, version, shown)
    own, *behind = context.array_extents(version, ())
    size = linear(view_size(view, 1 + len(behind)))
    whole = limit is not None and (behind or not linear(limit.limit).same(own) or holds_all(view, limit.limit))
    if padded and limit is not None and (limit.fill is not None or whole):
        if limit.fill is not None and limit.fill.type is NUMBER:  # an infinity, which integers do not hold
            array = py.method(array, "astype", py.call("jnp.result_type", array, Atom("float")))
        part, extents = filled_up(context, array, view, limit, depth, len(behind))
    elif padded:
        missing = context.at_least_zero(size - own)
        widths = py.Tup((py.number(0), missing))
        if behind:  # of vectors
            widths = py.Tup((widths, *(py.Tup((py.number(0), py.number(0))) for _ in behind)))
        part = py.call("jnp.pad", part, widths)
    made = part if len(view) == 1 and not behind else py.method(part, "reshape", *extents)
    if not padded and short(context, version, view):
        # rows that only a mask keeps from being read are there all the same: a gather needs a cell to be brought to
        least_one = tuple(one_or_more(context, v, text) for v, text in zip(view, extents, strict=True))
        made = py.call("jnp.resize", array, py.Tup(least_one))
    context.emit(Assign(name, made), depth)
    context.blocks[depth].variables[key] = (name, ())
    return Atom(name)


def short(context: Context, version: eq.Version, view: tuple[eq.Expr, ...]) -> bool:
    """Whether the array may end within the last row of the view: nothing shows that it has this row's last cell."""
    return (version.array, view) not in context.whole and version.array not in context.extents


def filled(
    context: Context,
    version: eq.Version,
    view: tuple[eq.Expr, ...],
    dims: Sequence[Dim],
    extents: tuple[Linear, ...],
) -> bool:
    """Whether all cells of a box are there, since the last row of the view is filled up where the array ends in it."""
    if not view or not short(context, version, view):
        return False
    return all(
        isinstance(d, Range) and context.never_negative(d.start) and context.never_negative(e - d.stop)
        for d, e in zip(dims, extents, strict=True)
    )


def flat_part(context: Context, array: Py, version: eq.Version, view: tuple[eq.Expr, ...]) -> Py:
    """The part of a flat array that a view shows."""
    extents = context.array_extents(version, ())
    size = tiles.whole(context.kernel, linear(view_size(view, len(extents))))
    gap = extents[0] - size
    if not gap.terms and gap.constant == 0:
        return array
    return py.Sub(array, (Slice(None, context.static(size)),))
