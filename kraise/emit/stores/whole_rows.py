"""The ends of an array and all that lies between them, stored one after the other, as one ``jnp.concatenate``.

``d[0] = a; d[n - 1] = b; d[1 : n - 1] = v`` is ``d.at[:n].set(jnp.concatenate((a[None], v, b[None])))``. (Measured on
500,000 cells: 0.6 of the time of three updates, of the gradient 0.75.) The side conditions: nothing looks at the array
in between, the first cell is stored only where there is one, and the last only where it is not the first.
"""

from __future__ import annotations

from kraise.emit import guards, lazy, tree
from kraise.emit.blocks import Row
from kraise.emit.context import Assign, Context, Frame
from kraise.emit.loads.masks import conjuncts, positive
from kraise.emit.lower import Lowering
from kraise.emit.settled import given
from kraise.emit.stores import versions
from kraise.emit.stores.merge import users
from kraise.emit.stores.typed import cast, typed
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.python import NONE, Atom, Py, Slice
from kraise.ir import equations as eq
from kraise.ir.types import INT


def rows(ctx: Context) -> dict[eq.Version, Row]:
    """The stores of such rows, by what they make."""
    found: dict[eq.Version, Row] = {}
    for stores in zip(*(ctx.kernel.body[k:] for k in range(3)), strict=False):
        if all(isinstance(s, eq.Write) and _plain(s) for s in stores) and sum(bool(s.axes) for s in stores) == 1:
            between = [s.after for s in stores[:-1]]
            follow = all(s.before is v for v, s in zip(between, stores[1:], strict=True))
            row = _row(ctx, stores) if follow and not any(_asked(ctx, v) for v in between) else None
            if row is not None:
                found |= {s.after: row for s in stores}
    return found


def _asked(ctx: Context, version: eq.Version) -> bool:
    """Whether more than one store has to do with a version."""
    return users(ctx.kernel)[version] != 1


def _plain(s: eq.Write) -> bool:
    return len(s.subscripts) == 1 and not (s.accumulate or s.safe or s.segments or s.view)


def _row(ctx: Context, stores: tuple[eq.Write, ...]) -> Row | None:
    (inner,) = (s for s in stores if s.axes)
    if len(inner.axes) != 1 or inner.where is not None or inner.subscripts != (eq.Index(inner.axes[0].name, INT),):
        return None
    (axis,) = inner.axes
    size = linear(axis.hi) + 1
    first = next((s for s in stores if linear(s.subscripts[0]).same(Linear())), None)
    last = next((s for s in stores if linear(s.subscripts[0]).same(size + -1)), None)
    if first is None or last is None or axis.step != 1 or not linear(axis.lo).same(Linear(constant=1)):
        return None
    if not size.terms or len({s.value.type for s in stores}) > 1 or not all(map(_of_data, stores)):
        return None
    there = _only_if(ctx, first, size + -1) and _only_if(ctx, last, size + -2)
    return Row(size, stores, first, inner, last) if there else None


def _of_data(s: eq.Write) -> bool:
    return any(isinstance(n, eq.Read) for n in tree.walk(s.value))


def _only_if(ctx: Context, s: eq.Write, form: Linear) -> bool:
    """Whether a store is made just where a sum is not negative."""
    if s.where is None:
        return ctx.never_negative(form)
    return lazy.sized(ctx, s.where) and any(f.same(form) for f in positive(s.where)) and len(conjuncts(s.where)) == 1


def write(low: Lowering, stmt: eq.Write, frame: Frame) -> bool:
    """Keeps the value of one of the stores of a row, and emits the row with the last one; False for other stores."""
    ctx = low.ctx
    row = ctx.whole_rows.get(stmt.after)
    if row is None:
        return False
    value = low.lower(given(stmt.value, tuple(guards.rooms(stmt))), frame)  # where it is stored, if sizes say so
    text = value.py if value.axes == frame else py.call("jnp.broadcast_to", value.py, ctx.shape_of(frame))
    text = cast(ctx, stmt, text)
    row.texts[stmt.after] = text if frame else py.Sub(text, (NONE,))
    if len(row.texts) == 3:
        _emit(low, stmt, row)
    return True


def _emit(low: Lowering, stmt: eq.Write, row: Row) -> None:
    ctx = low.ctx
    first, inner, last = (row.texts[s.after] for s in (row.first, row.inner, row.last))
    text: Py = py.call("jnp.concatenate", py.Tup((first, inner, last)))
    if row.last.where is not None:
        text = py.IfExp(ctx.static(row.last.where), text, first)
    before = row.stores[0].before
    base = ctx.array(before)
    name = versions.variable_for(ctx, before, stmt.after, stmt)
    if row.first.where is None and row.size.same(ctx.array_extents(before, ())[0]):
        text = typed(ctx, row.inner, text)
    else:
        upto = (Slice(None, ctx.static(row.size)),)
        text = py.method(py.Sub(py.Attr(base, "at"), upto), "set", text)
        text = text if row.first.where is None else py.IfExp(ctx.static(row.first.where), text, base)
    ctx.emit(Assign(name, text, row.inner.span))
    versions.bind(ctx, stmt.after, Atom(name))


__all__ = ["rows", "write"]
