"""Loads that move with the round of a loop: ``x[r + i + c]`` over all i is a slice that begins at ``r + c``.

``x[r - i + c]``, what a diagonal sees of a sequence, is a slice of the array backwards. Positions that a mask protects
may lie outside: zeros are put there, for JAX moves a slice that would leave the array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kraise.emit.context import Assign, Context, Frame, Val
from kraise.emit.loads.dims import Dim, Gather, Range
from kraise.emit.loads.masks import number
from kraise.emit.loads.moving import moves
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, is_size, linear
from kraise.emit.text.python import Atom, Py, Slice
from kraise.ir import equations as eq
from kraise.ir.types import INT


def sliding(low: Lowering, base: Py, node: eq.Read, extent: Linear, frame: Frame) -> Val | None:
    """The load of a row that moves by one a round, or that a mask protects; None if it is of another form."""
    ctx = low.ctx
    form = linear(node.subscripts[0])
    moved = {a.name: (a, c) for a, c in form.terms if isinstance(a, eq.Index) and abs(c) == 1}
    own = [a for a in frame if a.name in moved]
    rounds = [b for b in ctx.blocks if b.index in moved and b.axis is not None and not b.unrolled]
    if len(own) != 1 or len(moved) != 1 + len(rounds) or len(rounds) > 1:
        return None
    (axis,), block = own, rounds[0] if rounds else None
    rest = form.without(moved[axis.name][0])
    way, lo, last = 0, Linear(), Linear()
    if block is not None and block.axis is not None:
        rest, way = rest.without(moved[block.index][0]), moved[block.index][1]
        lo, last = linear(block.axis.lo), linear(block.axis.hi) + -1
    size = ctx.size(axis)
    if size is None or not all(map(ctx.is_static, (size, rest, extent, lo, last))):
        return None
    along = moved[axis.name][1]
    first = linear(axis.lo).times(along) + rest
    if along < 0:
        first, way = extent + -1 - first, -way
    before, after = Linear(), Linear()
    if node.safe:
        ends = (lo, last) if way > 0 else (-last, -lo)
        before, after = _sizes_of(-(ends[0] + first)), _sizes_of(ends[1] + first + size - extent)
    around = not (before.same(Linear()) and after.same(Linear()))
    inside = ctx.blocks[ctx.blocks.index(block) :] if block is not None else ()
    if (along < 0 or around) and any(node.version in b.bound for b in inside):
        return None  # each round would copy the array
    text = py.Sub(base, (Slice(None, None, py.number(-1)),)) if along < 0 else base
    widths = (ctx.static(before), ctx.static(after)) if around else None
    if block is None:
        first += before
        array = text if widths is None else py.call("jnp.pad", text, py.Tup(widths))
        begin = None if first.same(Linear()) else ctx.static(first)
        part: Py = py.Sub(array, (Slice(begin, ctx.at_least_zero(first + size)),))
    else:
        array = text if widths is None else _padded(ctx, text, node.version, along < 0, widths)
        start = _begin(ctx, Atom(low.fold_index(block.index)), way, first + before)
        part = py.call("jax.lax.dynamic_slice", array, py.Tup((start,)), py.Tup((ctx.at_least_zero(size),)))
    return low.extend(part, (axis,), frame)


def sliding_box(
    low: Lowering, base: Py, node: eq.Read, dims: Sequence[Dim], extents: Sequence[Linear], frame: Frame
) -> Val | None:
    """A box of which one axis moves with the round, ``cost[k + 1, r + i - 1]`` over all k and i, under a mask.

    The zeros around the array are no copy: XLA makes them where the slice is read (a table of 100 rows in intervals of
    growing length: 0.6 of the gather's time, its gradient 0.6).
    """
    ctx = low.ctx
    ranges = {at: d for at, d in enumerate(dims) if isinstance(d, Range)}
    moved = [at for at, d in enumerate(dims) if isinstance(d, Gather)]
    if not node.safe or len(moved) != 1 or len(ranges) + 1 != len(dims):
        return None
    axes: list[eq.Axis] = []
    starts: list[Py] = []
    widths: list[Py] = []
    sizes: list[Linear] = []
    for at, (subscript, extent) in enumerate(zip(node.subscripts, extents, strict=True)):
        if at in ranges:
            d = ranges[at]
            size, axis, ends, move = d.stop - d.start, d.axis, (d.start, d.start), None
            if d.step != 1 or d.backward or moves(ctx, d):
                return None
        else:
            move = _moved(ctx, linear(subscript), frame)
            whole = None if move is None else ctx.size(move.axis)
            if move is None or whole is None or not (ranges or _stage(move.by)):
                return None
            size, axis, ends = whole, move.axis, move.ends
        if not all(map(ctx.is_static, (size, extent, *ends))):
            return None
        before, after = _sizes_of(number(-ends[0])), _sizes_of(number(ends[1] + size - extent))
        axes.append(axis)
        starts.append(
            ctx.static(ends[0] + before)
            if move is None
            else _begin(ctx, low.lower(move.by, ()).py, move.way, move.first + before)
        )
        sizes.append(size)
        widths.append(py.Tup((ctx.static(before), ctx.static(after))))
    if len(set(axes)) != len(axes):
        return None
    padded = py.call("jnp.pad", base, py.Tup(tuple(widths)) if ranges else widths[0])
    shape = [ctx.at_least_zero(n) for n in sizes]
    (along,) = moved
    others = zip(starts, sizes, extents, strict=True)
    if all(at == along or (start == py.number(0) and n.same(e)) for at, (start, n, e) in enumerate(others)):
        where = {"axis": py.number(along)} if along else {}
        part = py.call("jax.lax.dynamic_slice_in_dim", padded, starts[along], shape[along], **where)
    else:
        part = py.call("jax.lax.dynamic_slice", padded, py.Tup(tuple(starts)), py.Tup(tuple(shape)))
    return low.extend(part, tuple(axes), frame)


@dataclass(frozen=True)
class _Move:
    """``i + r + c`` over all i: from where it starts without what the round says, which is the loop's index or what the
    round shifts by (``way`` times), and the first and the last of its starts."""

    axis: eq.Axis
    first: Linear
    by: eq.Expr
    way: int
    ends: tuple[Linear, Linear]


def _moved(context: Context, form: Linear, frame: Frame) -> _Move | None:
    """How a subscript moves, None if it does in another way."""
    indices = {a.name: a for a, c in form.terms if isinstance(a, eq.Index) and c == 1}
    own = [a for a in frame if a.name in indices and a.step == 1]
    axes = {b.index: b.axis for b in context.blocks if b.axis is not None and not b.unrolled}
    rounds = [(a, c, axes[a.name]) for a, c in form.terms if isinstance(a, eq.Index) and a.name in axes and c == 1]
    shifts = [(a, c, axes[_stage(a)]) for a, c in form.terms if _stage(a) in axes]
    if len(own) != 1 or len(rounds) + len(shifts) != 1:
        return None
    (axis,) = own
    by, way, over = [*rounds, *shifts][0]
    rest = form.without(indices[axis.name]).without(by)
    if any(context.free(a) for a, _ in rest.terms):
        return None
    first = linear(axis.lo) + rest
    least, most = _powers(by, over) if shifts else (linear(over.lo), linear(over.hi) + -1)
    ends = (first + least.times(way), first + most.times(way))
    return _Move(axis, first, by, way, ends if way > 0 else ends[::-1])


def _stage(atom: eq.Expr) -> str:
    """The index k of a number that is shifted by it, ``1 << k`` or ``64 >> 2 * k``; "" for other values."""
    match atom:
        case eq.Op(name="shl" | "shr", args=(eq.Const(value=int() as value), by)) if value > 0:
            index = by.args[1] if isinstance(by, eq.Op) and by.name == "mul" and _bits(by) else by
            return index.name if isinstance(index, eq.Index) else ""
    return ""


def _bits(by: eq.Expr) -> int:
    """By how many bits a round shifts more than the one before."""
    first = by.args[0] if isinstance(by, eq.Op) and by.name == "mul" else eq.Const(1, INT)
    return first.value if isinstance(first, eq.Const) and isinstance(first.value, int) else 0


def _powers(atom: eq.Expr, rounds: eq.Axis) -> tuple[Linear, Linear]:
    """Numbers that what the rounds shift by is between: for as many rounds as a size has bits it is that at most."""
    assert isinstance(atom, eq.Op) and isinstance(atom.args[0], eq.Const)
    number = atom.args[0].value
    assert isinstance(number, int)
    if atom.name == "shr":
        return Linear(), Linear((), number)
    bits = _bits(atom.args[1])
    match rounds.hi:
        case eq.Const(value=int() as stop):
            return Linear((), number), Linear((), number << bits * max(stop - 1, 0))
        case eq.Op(name="bit_length", args=(size,)) if bits == 1:
            return Linear((), number), linear(size).times(number)
    return Linear((), number), linear(
        eq.Op("shl", (atom.args[0], eq.Op("mul", (eq.Const(bits, INT), rounds.hi), INT)), INT)
    )


def _sizes_of(value: Linear) -> Linear:
    """A sum of sizes that is never smaller: what is taken away is left out."""
    return Linear(tuple((a, c) for a, c in value.terms if c > 0 and is_size(a)), max(value.constant, 0))


def _begin(context: Context, number: Py, way: int, rest: Linear) -> Py:
    """``number + rest`` or ``rest - number``, of so many times the number."""
    if abs(way) > 1:
        number = py.Bin("*", py.number(abs(way)), number)
    if way < 0:
        return py.Bin("-", context.static(rest), number)
    if rest.same(Linear()):
        return number
    negative = not rest.terms and rest.constant < 0
    return py.Bin("-" if negative else "+", number, context.static(-rest if negative else rest))


def _padded(context: Context, array: Py, version: eq.Version, backward: bool, widths: tuple[Py, Py]) -> Py:
    """The array with zeros around it: made once, outside of the loop."""
    padded = py.call("jnp.pad", array, py.Tup(widths))
    key = ("sliding", version, padded)
    for block in context.blocks:
        known = block.variables.get(key)
        if known is not None:
            return Atom(known[0])
    depth = next((d for d, b in enumerate(context.blocks) if version in b.bound), 0)
    name = context.names.fresh(f"{version.array.split('.')[-1]}_{'back' if backward else 'wide'}")
    context.emit(Assign(name, padded), depth)
    context.blocks[depth].variables[key] = (name, ())
    return Atom(name)
