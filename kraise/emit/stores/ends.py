"""A store of all of a row but its ends, by a kernel whose host gives it the array that it reads to write to, too:
``first, _, last = jnp.split(v, (1, n - 1))`` and ``jnp.concatenate((first, …, last))`` for ``v.at[1 : n - 1].set(…)``.

XLA updates cells of a loop's state in place, and copies for that what it reads of the same array (measured on 200,000
cells: 0.13 ms a round as an update, 0.03 ms put together anew; in a loop of two arrays that change places the update is
the quick one). Such a kernel is ``inline``: then the cotangents of
what it read and of the ends are one sum, which XLA compiles to a quick loop (0.04 ms a round, as two sums 0.14 ms).
The ends are a split, not slices of their own: the cotangent of a split is put together in one pass, those of slices are
padded and added (a gradient of 200,000 cells in 0.12 ms for 0.19, in a loop in 0.6 of the time).

A box of a plate is what is padded with zeros, plus the array without it: ``jnp.pad(…, 1) + v.at[1:-1, 1:-1].set(0)``,
one pass (in a loop a third of the time of an update, its gradient a quarter).
"""

from __future__ import annotations

from kraise.emit import tree
from kraise.emit.context import Assign, Context, Frame, Val
from kraise.emit.loads import subscripts as subs
from kraise.emit.lower import Lowering
from kraise.emit.stores import versions
from kraise.emit.stores.typed import typed
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, nonnegative
from kraise.emit.text.python import Atom
from kraise.ir import equations as eq


def joined(
    low: Lowering, stmt: eq.Write, dims: list[subs.Dim], extents: tuple[Linear, ...], value: Val, frame: Frame
) -> bool:
    """Emits the cells before those that are stored, these, and those behind them, if the store is of that kind."""
    ctx = low.ctx
    if stmt.before.array == ctx.kernel.rimmed:
        return _rimmed(low, stmt, dims, extents, value, frame)
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
    places: list[py.Py] = []
    targets, found = ["_"], [typed(ctx, stmt, Atom(inner))]
    if not start.same(Linear()):
        places.append(subs.bound(ctx, start, extent))
        targets.insert(0, ctx.names.fresh("first"))
        found.insert(0, Atom(targets[0]))
    if not stop.same(extent):
        places.append(subs.bound(ctx, stop, extent))
        targets.append(ctx.names.fresh("last"))
        found.append(Atom(targets[-1]))
    ctx.emit(Assign(", ".join(targets), py.call("jnp.split", base, py.Tup(tuple(places)))))
    versions.assign_whole(low, stmt, py.call("jnp.concatenate", py.Tup(tuple(found))))
    return True


def _rimmed(
    low: Lowering, stmt: eq.Write, dims: list[subs.Dim], extents: tuple[Linear, ...], value: Val, frame: Frame
) -> bool:
    """Emits a box of several axes as what is padded, and the rim around it."""
    ctx = low.ctx
    boxed = value.axes == frame and len(frame) == len(dims) and stmt.where is None
    if not boxed or stmt.accumulate not in ("", "add") or ctx.element(stmt.before.array).kind == "bool":
        return False
    empty: list[Linear] = []
    cells: list[py.Py] = []
    widths: list[tuple[py.Py, py.Py]] = []
    for dim, extent in zip(dims, extents, strict=True):
        if not isinstance(dim, subs.Range) or dim.step != 1 or dim.backward or not nonnegative(dim.start):
            return False
        if not ctx.never_negative(dim.stop - dim.start):
            empty.append(dim.stop - dim.start)
        cells.append(subs.slice_item(ctx, dim, extent)[0])
        widths.append((ctx.static(dim.start), ctx.static(extent - dim.stop)))
    if empty:
        ctx.clamped += empty  # worth an early return
        return False
    sides = {side for pair in widths for side in pair}
    if sides == {py.number(0)}:
        return False
    inner = ctx.names.fresh("inner")
    ctx.emit(Assign(inner, typed(ctx, stmt, value.py), stmt.span))
    width = sides.pop() if len(sides) == 1 else py.Tup(tuple(map(py.Tup, widths)))

    padded = py.call("jnp.pad", Atom(inner), width)

    def make(base: py.Py) -> py.Py:
        if stmt.accumulate:
            return py.Bin("+", base, padded)
        return py.Bin("+", padded, py.method(py.Sub(py.Attr(base, "at"), tuple(cells)), "set", py.number(0)))

    versions.assign(low, stmt, make)
    for node in read_again(ctx, stmt) if not stmt.accumulate else ():
        ctx.blocks[-1].variables[(node, frozenset(frame))] = (inner, frame)
    return True


def read_again(ctx: Context, stmt: eq.Write) -> list[eq.Read]:
    """The loads of the cells that a store has just made."""
    found: list[eq.Read] = []
    for node in tree.walk(*(root for s in ctx.kernel.body for root in tree.statement_roots(s))):
        match node:
            case eq.Read(version=stmt.after, subscripts=stmt.subscripts, view=stmt.view):
                found.append(node)
    return found


__all__ = ["joined", "read_again"]
