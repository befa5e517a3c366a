"""A store of all of a row but its ends, by a kernel whose host gives it the array that it reads to write to, too:
``jnp.concatenate((v[:1], …, v[n - 1 :]))`` for ``v.at[1 : n - 1].set(…)``.

XLA updates cells of a loop's state in place, and copies for that what it reads of the same array (measured on 200,000
cells: 0.13 ms a round as an update, 0.03 ms put together anew; in a loop of two arrays that change places the update is
the quick one). Such a kernel is ``inline``: then the cotangents of
what it read and of the ends are one sum, which XLA compiles to a quick loop (0.04 ms a round, as two sums 0.14 ms).
"""

from __future__ import annotations

from kraise.emit.context import Assign, Frame, Val
from kraise.emit.loads import subscripts as subs
from kraise.emit.lower import Lowering
from kraise.emit.stores import versions
from kraise.emit.stores.typed import typed
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, nonnegative
from kraise.emit.text.python import Atom, Slice
from kraise.ir import equations as eq


def joined(
    low: Lowering, stmt: eq.Write, dims: list[subs.Dim], extents: tuple[Linear, ...], value: Val, frame: Frame
) -> bool:
    """Emits the cells before those that are stored, these, and those behind them, if the store is of that kind."""
    ctx = low.ctx
    if (
        ctx.kernel.onto_itself != "joined"
        or stmt.accumulate
        or stmt.where is not None
        or stmt.view
        or len(ctx.blocks) > 1
    ):
        return False
    match dims:
        case [subs.Range(start=start, stop=stop, step=1, backward=False)] if value.axes == frame:
            pass
        case _:
            return False
    (extent,) = extents
    if not nonnegative(start) or not ctx.never_negative(stop - start):
        ctx.clamped.append(stop - start)  # worth an early return
        return False
    if start.same(Linear()) and stop.same(extent):
        return False
    base = ctx.array(stmt.before)
    inner = ctx.names.fresh("inner")
    ctx.emit(Assign(inner, value.py, stmt.span))
    found = [typed(ctx, stmt, Atom(inner))]
    if not start.same(Linear()):
        found.insert(0, py.Sub(base, (Slice(None, subs.bound(ctx, start, extent)),)))
    if not stop.same(extent):
        found.append(py.Sub(base, (Slice(subs.bound(ctx, stop, extent), None),)))
    versions.assign_whole(low, stmt, py.call("jnp.concatenate", py.Tup(tuple(found))))
    return True


__all__ = ["joined"]
