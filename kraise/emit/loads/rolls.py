"""Places that go round (``(i + c) % n``) under stores, and by a table's rows: ``f[q, (i - ex[q]) % n]``.

A lattice whose populations move on along nine directions is nine rolls, one for each row of the tables, stacked; a
store to places that go round is one of the rolled value. (Measured on a CPU, nine directions on 200 x 300 cells: index
arrays take three times as long.) The side conditions: the index of the rows is the first subscript and has a known
number of values, its tables are the module's own numbers, and every other subscript runs over a whole extent.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraise.emit.context import Context, Frame, Val
from kraise.emit.loads.dims import Range, Roll, classify, roll_of
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, from_zero, linear, print_sum
from kraise.emit.text.names import identifier
from kraise.emit.text.python import Atom, Py
from kraise.ir import equations as eq

_MOST = 32


@dataclass(frozen=True)
class Rolls:
    """The index of the tables (None: there are none), the subscripts' axes in order, by how many places each that goes
    round is moved, and the size over which it does where that is not the array's."""

    rows: eq.Axis | None
    axes: Frame
    shifts: tuple[tuple[int, Linear], ...]
    parts: tuple[Linear | None, ...]


def rolls(
    ctx: Context, subscripts: tuple[eq.Expr, ...], extents: tuple[Linear, ...], frame: Frame, unused: bool = False
) -> Rolls | None:
    """How subscripts go round; None where they do not. ``unused``: nobody uses what stands beyond the ends, which may
    then be what comes round."""
    rows, first = None, subscripts[0]
    if len(subscripts) > 1 and isinstance(first, eq.Index):
        rows = next((a for a in frame if a.name == first.name and few(a)), None)
    axes: list[eq.Axis] = []
    shifts: list[tuple[int, Linear]] = []
    parts: list[Linear | None] = []
    tables = False
    for at, (s, extent) in enumerate(zip(subscripts, extents, strict=True)):
        if at == 0 and rows is not None:
            continue
        own = [a for a in frame if a.name in ctx.free(s) and a is not rows]
        if len(own) != 1:
            return None
        held = rows is not None and rows.name in ctx.free(s)
        dim = roll_of(linear(s), own[0], extent) if held else classify(ctx, s, extent, frame)
        if held and dim is None and unused:
            dim = _moved(linear(s), own[0], extent)
        match dim:
            case Range(start=start, stop=stop, step=1, backward=False) if start.same(Linear()):
                shift, part = Linear(), None if stop.same(extent) else stop
            case Roll(shift=shift, part=part) if all(_known(ctx, a, rows) for a, _ in shift.terms):
                pass
            case _:
                return None
        if not shift.same(Linear()):
            shifts.append((len(axes), shift))
        tables |= held
        axes.append(own[0])
        parts.append(part)
    if len(set(axes)) != len(axes) or not shifts or (rows is not None and not tables):
        return None
    return Rolls(rows, tuple(axes), tuple(shifts), tuple(parts))


def _moved(place: Linear, axis: eq.Axis, extent: Linear) -> Roll | None:
    """``y - dy[q]``, y over the whole extent, as places that go round."""
    index = next((a for a, c in place.terms if isinstance(a, eq.Index) and a.name == axis.name and c == 1), None)
    whole = from_zero(axis) and linear(axis.hi).same(extent)
    return Roll(axis, place - linear(index)) if index is not None and whole else None


def few(axis: eq.Axis) -> bool:
    """Whether an axis has a known number of values, from 0, that are taken one by one."""
    size = linear(axis.hi)
    return from_zero(axis) and not size.terms and 1 < size.constant <= _MOST


def _known(ctx: Context, atom: eq.Expr, rows: eq.Axis | None) -> bool:
    """Whether an atom of a shift is known when the function is traced: an entry of a table in its row, or static."""
    if isinstance(atom, eq.Read):
        by_row = rows is not None and len(atom.subscripts) == 1 and isinstance(atom.subscripts[0], eq.Index)
        return by_row and atom.version.array in ctx.tables and not atom.version.number and not atom.view
    return ctx.is_static(atom)


def rolled(low: Lowering, base: Py, found: Rolls, way: int) -> Py:
    """``base`` with its rows, all of them, rolled forward (``way`` 1) or back (-1)."""
    ctx = low.ctx
    name = ctx.names.fresh(found.rows.name) if found.rows is not None else ""

    def atom(node: eq.Expr) -> Py:
        if not isinstance(node, eq.Read):
            return ctx.static(node)
        ctx.used_constants.add(node.version.array)
        return py.Sub(Atom(identifier(node.version.array)), (Atom(name),))

    by = [print_sum(shift.times(way), atom) for _, shift in found.shifts]
    at = [py.number(k) for k, _ in found.shifts]
    one_row = ctx.names.fresh("row") if name else ""
    row = Atom(one_row) if name else base
    one = len(by) == 1
    given = {} if len(found.axes) == 1 else {"axis": at[0] if one else py.Tup(tuple(at))}
    text = py.call("jnp.roll", row, by[0] if one else py.Tup(tuple(by)), **given)
    if found.rows is None:
        return text
    ctx.names.release(name)
    ctx.names.release(one_row)
    # not base[q]: the gradient of a slice is a whole array, and the sum of nine of them takes seven times as long
    rows = py.call("enumerate", py.call("jnp.unstack", base))
    return py.call("jnp.stack", py.Generator(text, ((f"{name}, {one_row}", rows),), listed=True))


def by_table(low: Lowering, base: Py, node: eq.Read, extents: tuple[Linear, ...], frame: Frame) -> Val | None:
    """A load of rows each of which goes round by its own number of places, or is moved where what stands beyond its
    ends is used by nobody."""
    found = rolls(low.ctx, node.subscripts, extents, frame, node.safe) if isinstance(base, Atom) else None
    if found is None or found.rows is None or any(found.parts):
        return None
    if not linear(found.rows.hi).same(extents[0]):
        base = py.Sub(base, (py.Slice(None, low.ctx.static(found.rows.hi)),))
    return low.extend(rolled(low, base, found, -1), (found.rows, *found.axes), frame)


__all__ = ["Rolls", "by_table", "few", "rolled", "rolls"]
