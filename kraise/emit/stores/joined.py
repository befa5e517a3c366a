"""Two stores that fill a view between them, its first or last row (or column) and all others, as one ``concatenate``.

``c[0, s] = a; c[1:, s] = b`` in place of two updates of a view of which nothing is left: measured on a batch of
tridiagonal systems, the gradient takes 0.4 to 0.9 of the time. The first store is kept back as a value until the second
one comes; nothing may ask for the array in between.
"""

from __future__ import annotations

from collections.abc import Callable

from kraise.emit import tree
from kraise.emit.context import Context, Frame, Val
from kraise.emit.loads import subscripts as subs
from kraise.emit.loads.dims import is_whole
from kraise.emit.lower import Lowering
from kraise.emit.stores import halves, versions
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.python import ALL, NONE, Py
from kraise.ir import equations as eq

# of kraise.emit.stores.writes, which knows of this module: the axes of a store, whether its value has the array's type
Framed = Callable[[Context, eq.Write], tuple[Frame, Frame]]
Typed = Callable[[Context, eq.Write], bool]


def kept_back(low: Lowering, stmt: eq.Write, framed: Framed, typed: Typed) -> bool:
    """Whether the store is the row that a later one leaves: its value is then kept, and nothing is emitted."""
    ctx = low.ctx
    rank = len(stmt.view) or (len(stmt.subscripts) if stmt.before in ctx.blank else 0)
    if rank < 2 or ctx.following is None or len(ctx.blocks) > 1:
        return False
    part, other = halves.half(ctx, stmt, framed(ctx, stmt)), _next(ctx, stmt)
    if part is not None and other is not None and halves.fill(ctx, stmt, other, framed):
        value = halves.cells(low, stmt, framed(ctx, stmt)[0], stmt.before)
        ctx.rows[stmt.after] = (value, part[1] == 1, typed(ctx, stmt))
        ctx.under[(stmt.after, stmt.view)] = ctx.under.get((stmt.before, stmt.view), stmt.before)
        return True
    end = _row(ctx, stmt, framed)
    second = None if end is None else _next(ctx, stmt)
    if end is None or second is None or not _rest(ctx, second, framed, end) or stmt.view != second.view:
        return False
    frame, _ = framed(ctx, stmt)
    value = full(low, stmt.value, frame)
    at, which = end
    ctx.rows[stmt.after] = (py.Sub(value, (*(ALL,) * at, NONE)), which == "last", typed(ctx, stmt))
    ctx.under[(stmt.after, stmt.view)] = ctx.under.get((stmt.before, stmt.view), stmt.before)
    return True


def joined(low: Lowering, stmt: eq.Write, framed: Framed, typed: Typed) -> bool:
    """Emits the second of the two stores, if a row was kept for it."""
    ctx = low.ctx
    if stmt.before not in ctx.rows:
        return False
    row, last, same = ctx.rows.pop(stmt.before)
    frame, _ = framed(ctx, stmt)
    before = ctx.under[(stmt.before, stmt.view)]
    same = same and typed(ctx, stmt)
    if (part := halves.half(ctx, stmt, framed(ctx, stmt))) is not None:
        rest = halves.cells(low, stmt, frame, before)
        text = halves.stacked(low, stmt, before, part[0], (rest, row) if last else (row, rest), same)
    else:
        rest, place = full(low, stmt.value, frame), along(ctx, stmt, framed)
        axis = {"axis": py.number(place[0])} if place is not None and place[0] else {}
        text = py.call("jnp.concatenate", py.Tup((rest, row) if last else (row, rest)), **axis)
    if not same:
        text = py.method(text, "astype", versions.dtype_of(ctx, before))
    versions.assign_whole(low, stmt, text)
    return True


def full(low: Lowering, node: eq.Expr, frame: Frame) -> Py:
    """A value along all axes of a frame."""
    value: Val = low.lower(node, frame)
    return value.py if value.axes == frame else py.call("jnp.broadcast_to", value.py, low.ctx.shape_of(frame))


def along(ctx: Context, stmt: eq.Write, framed: Framed) -> tuple[int, subs.Dim, Linear] | None:
    """The one axis of which a store sets a part, what part and of how many places; it sets a box of unit strides, each
    cell by one point."""
    if stmt.accumulate or stmt.where is not None or stmt.safe or stmt.segments:
        return None
    frame, rest = framed(ctx, stmt)
    extents = ctx.array_extents(stmt.before, stmt.view)
    dims = [subs.classify(ctx, s, e, frame) for s, e in zip(stmt.subscripts, extents, strict=True)]
    places = enumerate(zip(dims, extents, strict=True))
    parts = [(at, d, e) for at, (d, e) in places if not is_whole(d, e)]
    box = sum(isinstance(d, subs.Range) for d in dims) == len(frame)  # else one index stands twice: a diagonal
    return parts[0] if box and len(parts) == 1 and not rest else None


def _row(ctx: Context, stmt: eq.Write, framed: Framed) -> tuple[int, str] | None:
    """Which row along an axis the store sets, the first or the last; None if it is neither."""
    part = along(ctx, stmt, framed)
    if part is None or not isinstance(part[1], subs.Scalar):
        return None
    place = linear(part[1].expr)
    end = "first" if place.same(Linear()) else "last" if place.same(part[2] + -1) else None
    return None if end is None else (part[0], end)


def _rest(ctx: Context, stmt: eq.Write, framed: Framed, end: tuple[int, str]) -> bool:
    """Whether the store sets every row but that one."""
    part = along(ctx, stmt, framed)
    if part is None or part[0] != end[0]:
        return False
    _, dim, extent = part
    if not isinstance(dim, subs.Range) or dim.step != 1 or dim.backward:
        return False
    if end[1] == "last":
        return dim.start.same(Linear()) and dim.stop.same(extent + -1)
    return dim.start.same(Linear(constant=1)) and (dim.stop.same(extent) or _at_least_one(extent, dim.stop))


def _at_least_one(extent: Linear, size: Linear) -> bool:
    """Whether the extent is ``max(1, size)``."""
    if len(extent.terms) != 1 or extent.constant or extent.terms[0][1] != 1:
        return False
    match extent.terms[0][0]:
        case eq.Op(name="max", args=(a, b)):
            pair = (linear(a), linear(b))
            return any(x.same(Linear(constant=1)) and y.same(size) for x, y in (pair, pair[::-1]))
    return False


def _next(ctx: Context, stmt: eq.Write) -> eq.Write | None:
    """The store that follows on what this one makes, if nothing else asks for it."""
    assert ctx.following is not None
    body, returns = ctx.following
    second: eq.Write | None = None
    for s in tree.statements(body):
        if isinstance(s, eq.Write) and s.before is stmt.after:
            second = s if second is None and s in body else None
            if second is None:
                return None
        if isinstance(s, eq.Fold) and any(stmt.after in (c.outside, c.exit) for c in s.arrays):
            return None
        nodes = tree.walk(*tree.statement_roots(s))
        if any(isinstance(n, eq.Read) and n.version is stmt.after for n in nodes):
            return None
    values: list[eq.Expr] = [r for r in returns if isinstance(r, eq.Node)]  # type: ignore[misc]
    if stmt.after in returns or any(isinstance(n, eq.Read) and n.version is stmt.after for n in tree.walk(*values)):
        return None
    return second
