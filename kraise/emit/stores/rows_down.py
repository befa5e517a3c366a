"""Rows that are made of other rows of the same matrix, ``a[i, j] = 2 * a[i - 1, j]``, put together anew:
``jnp.concatenate((a[:1], 2 * a[:-1]))`` for ``a.at[1:].set(2 * a[:-1])``.

XLA (jaxlib 0.10.2, on a CPU) updates such rows in place where another update of the array follows, from the first row
on, and reads rows that it has just made. Its own check fails where the matrix is another array's view
(``x.reshape(8, 8)``) and the value reads whole rows, but not those that are stored. Within loops, where updates in
place are the quick ones, the check holds.
"""

from __future__ import annotations

from kraise.emit import tree
from kraise.emit.context import Frame, Val
from kraise.emit.loads import subscripts as subs
from kraise.emit.loads.dims import is_whole
from kraise.emit.lower import Lowering
from kraise.emit.stores import versions
from kraise.emit.stores.typed import typed
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, nonnegative
from kraise.emit.text.python import Py, Slice
from kraise.ir import equations as eq


def anew(
    low: Lowering, stmt: eq.Write, dims: list[subs.Dim], extents: tuple[Linear, ...], value: Val, frame: Frame
) -> bool:
    """Emits the rows before those that are stored, these, and those behind them, if the store is of that kind."""
    ctx = low.ctx
    if stmt.accumulate or stmt.where is not None or len(ctx.blocks) > 1 or len(dims) < 2 or len(frame) < len(dims):
        return False
    rows, *columns = dims
    if not isinstance(rows, subs.Range) or rows.step != 1 or rows.backward or not nonnegative(rows.start):
        return False
    if not all(map(is_whole, columns, extents[1:])) or not _of_other_rows(stmt):
        return False
    to_end = rows.stop.same(extents[0])  # rows from behind the last one on are none
    first = None if rows.start.same(Linear()) else subs.bound(ctx, rows.start, extents[0])
    last = None if to_end else subs.bound(ctx, rows.stop, extents[0])
    if last is not None and not ctx.never_negative(rows.stop - rows.start):  # no row is stored, and none is there twice
        last = py.call("max", ctx.static(rows.stop), ctx.static(rows.start))
    text = value.py if value.axes == frame else py.call("jnp.broadcast_to", value.py, ctx.shape_of(frame))

    def made(base: Py) -> Py:
        parts = [typed(ctx, stmt, text)]
        parts = parts if first is None else [py.Sub(base, (Slice(None, first),)), *parts]
        parts = parts if last is None else [*parts, py.Sub(base, (Slice(last, None),))]
        return py.call("jnp.concatenate", py.Tup(tuple(parts)))

    versions.assign(low, stmt, made)
    return True


def _of_other_rows(stmt: eq.Write) -> bool:
    """Whether a value is made of cells of the array, none of them the one that is stored."""
    reads = [n for n in tree.walk(stmt.value) if isinstance(n, eq.Read) and n.version is stmt.before]
    own = [n for n in reads if n.subscripts == stmt.subscripts and n.view == stmt.view]
    return bool(reads) and not own


__all__ = ["anew"]
