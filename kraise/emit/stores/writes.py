"""Stores: a covered array is its value, a box of it ``.at[slices]``, anything else a scatter through index arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kraise.diagnostics import refuse
from kraise.emit import guards, lazy, tree
from kraise.emit.context import Context, Frame, Val
from kraise.emit.loads import rolls, table_rows
from kraise.emit.loads import subscripts as subs
from kraise.emit.loads.blocked import told
from kraise.emit.loads.wide import wide
from kraise.emit.lower import Lowering, dtype_text
from kraise.emit.settled import given
from kraise.emit.stores import (
    bits,
    columns,
    copied,
    ends,
    flat,
    joined,
    new_arrays,
    padded,
    pieces,
    rows_down,
    triangles,
    versions,
    whole_rows,
)
from kraise.emit.stores.one_of import of_one
from kraise.emit.stores.typed import cast, data, same_type, typed
from kraise.emit.sums.reductions import masked
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.python import ALL, Atom, Py, Slice
from kraise.ir import equations as eq
from kraise.ir.types import ScalarType
from kraise.ir.walk import topological

_AT = {"": "set", "add": "add", "mul": "multiply", "min": "min", "max": "max"}
_WHOLE = {"add": "+", "mul": "*", "and": "&", "or": "|", "xor": "^", "min": "jnp.minimum", "max": "jnp.maximum"}


def write(low: Lowering, stmt: eq.Write) -> None:
    """Emits one store."""
    if padded.is_there(low.ctx, stmt):
        return
    frame, rest = stored_frame(low.ctx, stmt)
    if stmt.segments:
        from kraise.emit.sums import segments

        segments.total(low, stmt, frame)
        return
    if isinstance(stmt.value, eq.Op) and stmt.value.name == tree.STACK:
        columns.write(low, stmt, frame)
        return
    if whole_rows.write(low, stmt, frame) or pieces.write(low, stmt, stored_frame):
        return
    if any(own(low, stmt, stored_frame, same_type) for own in (joined.joined, joined.kept_back)):
        return
    if bits.accumulate(low, stmt, frame, rest):
        return
    if rest:
        stmt = _reduced(low, stmt, rest)
    if triangles.packed(low, stmt, frame):
        return
    rows = flat.part(low, stmt)
    if rows is not None:
        _write_rows(low, stmt, *rows)
        return
    table_rows.stacked(low, stmt, frame)
    extents = low.ctx.array_extents(stmt.before, stmt.view)
    dims = [subs.classify(low.ctx, s, e, frame) for s, e in zip(stmt.subscripts, extents, strict=True)]
    subs.doubted(low.ctx, dims, extents)
    if _box(low.ctx, dims, extents) and (not stmt.safe or subs.filled(low.ctx, stmt.before, stmt.view, dims, extents)):
        _write_box(low, stmt, dims, extents, frame)
    elif stmt.safe and stmt.accumulate and _from_first(dims) and _box(low.ctx, dims, extents):
        _add_within(low, stmt, dims, extents, frame)
    elif (found := _going_round(low, stmt, extents, frame)) is not None:
        _write_rolled(low, stmt, found, extents, frame)
    else:
        _scatter(low, stmt, dims, extents, frame)


def _going_round(low: Lowering, stmt: eq.Write, extents: tuple[Linear, ...], frame: Frame) -> rolls.Rolls | None:
    """How the places of a store go round."""
    if stmt.where is not None or stmt.accumulate or stmt.safe:
        return None
    return rolls.rolls(low.ctx, stmt.subscripts, extents, frame)


def _write_rolled(low: Lowering, stmt: eq.Write, found: rolls.Rolls, extents: tuple[Linear, ...], frame: Frame) -> None:
    ctx = low.ctx
    value = low.as_name(stmt.value, frame) if found.rows is not None else low.lower(stmt.value, frame)
    text = value.py if value.axes == frame else py.call("jnp.broadcast_to", value.py, ctx.shape_of(frame))
    text = rolls.rolled(low, text, found, 1)
    sizes = [None if found.rows is None else linear(found.rows.hi), *found.parts][-len(extents) :]
    cut = [s is not None and not s.same(e) for s, e in zip(sizes, extents, strict=True)]
    if not any(cut):
        versions.assign_whole(low, stmt, typed(ctx, stmt, text))
        return
    items: list[Py] = [Slice(None, ctx.static(s)) if c else ALL for s, c in zip(sizes, cut, strict=True)]  # type: ignore[arg-type]
    versions.assign(low, stmt, lambda base: _at(base, list(items), "set", cast(ctx, stmt, text)))


def stored_frame(context: Context, stmt: eq.Write) -> tuple[Frame, Frame]:
    """The axes in the order of the subscripts, and those that no subscript names. The axes of one place are in the
    order in which it is loaded: ``hist[bin[y, x]]`` of threads along x and y needs no transposed places (half of the
    time)."""
    order: list[eq.Axis] = []
    for s in stmt.subscripts:
        free = context.free(s)
        new = [a for a in stmt.axes if a.name in free and a not in order]
        loaded = [n for n in tree.walk(s) if isinstance(n, eq.Read)] if len(new) > 1 else []
        rows = [[a for at in n.subscripts for a in new if a.name in context.free(at)] for n in loaded]
        whole = [r for r in rows if len(r) == len(new) == len(set(r))]
        order += whole[0] if whole and all(r == whole[0] for r in whole) else new
    return tuple(order), tuple(a for a in stmt.axes if a not in order)


def _reduced(low: Lowering, stmt: eq.Write, rest: Frame) -> eq.Write:
    if not stmt.accumulate:
        return of_one(low.ctx, stmt, rest)
    value = eq.Reduce(stmt.accumulate, rest, stmt.value, stmt.where, stmt.value.type)
    where = None
    if stmt.safe and stmt.where is not None:
        where = eq.Reduce("or", tuple(a for a in rest), stmt.where, None, stmt.where.type)
    return replace(stmt, axes=tuple(a for a in stmt.axes if a not in rest), value=value, where=where)


def _box(context: Context, dims: list[subs.Dim], extents: tuple) -> bool:
    """Whether the store's cells are a slice an axis (``::-1`` over a whole axis included)."""
    ranges = [d for d in dims if isinstance(d, subs.Range)]
    plain = all(
        isinstance(d, subs.Scalar) or (isinstance(d, subs.Range) and not subs.slice_item(context, d, e)[1])
        for d, e in zip(dims, extents, strict=True)
    )
    return plain and len({d.axis for d in ranges}) == len(ranges)


def _update(ctx: Context, stmt: eq.Write) -> eq.Write:
    """``y[s] = y[s] + e`` as an accumulation of ``e``."""
    if stmt.accumulate or not isinstance(stmt.value, eq.Op) or stmt.value.name not in ("add", "sub", "mul"):
        return stmt
    held = {stmt.before, copied.source(ctx, stmt.before, stmt.view)}
    a, b = stmt.value.args
    old = [
        isinstance(x, eq.Read) and x.version in held and x.subscripts == stmt.subscripts and x.view == stmt.view
        for x in (a, b)
    ]
    name = stmt.value.name
    if old[0] and not old[1]:
        value = eq.Op("neg", (b,), b.type) if name == "sub" else b
        return replace(stmt, value=value, accumulate="mul" if name == "mul" else "add")
    if old[1] and not old[0] and name != "sub":
        return replace(stmt, value=a, accumulate=name)
    return stmt


def _write_box(low: Lowering, stmt: eq.Write, dims: list[subs.Dim], extents: tuple[Linear, ...], frame: Frame) -> None:
    ctx = low.ctx
    items: list[Py] = []
    for dim, extent in zip(dims, extents, strict=True):
        if isinstance(dim, subs.Range):
            items.append(subs.slice_item(ctx, dim, extent)[0])
        else:
            items.append(subs.position(low, dim.expr, extent, False, stored=True))  # type: ignore[union-attr]
    whole = all(i == ALL for i in items) or (
        stmt.covers and len(frame) == len(dims) and not stmt.accumulate and not any(_backward(d) for d in dims)
    )
    chosen, stmt = _by_sizes(ctx, stmt)
    if not whole:
        again = ctx.uses[stmt.value] > 1 or (stmt.before.array == ctx.kernel.rimmed and ends.read_again(ctx, stmt))
        stmt = stmt if again else _update(ctx, stmt)
    if whole and not stmt.accumulate and stmt.where is None:
        value = low.stored(stmt.value, frame)
    else:
        value = _value(low, stmt, frame)
    if whole and chosen is not None:
        shape = versions.shape_text(ctx, stmt)
        text = value.py if value.axes == frame else py.call("jnp.broadcast_to", value.py, shape)
        versions.assign(low, stmt, lambda base: py.IfExp(chosen, typed(ctx, stmt, text), base))
        return
    if whole:
        _whole(low, stmt, value, frame)
        return
    if value.axes == frame and len(frame) == len(dims) and (widths := padded.widths(ctx, stmt, dims, extents)):
        versions.assign_whole(low, stmt, py.call("jnp.pad", typed(ctx, stmt, value.py), widths))
        return
    if chosen is None and any(one(low, stmt, dims, extents, value, frame) for one in (ends.joined, rows_down.anew)):
        return
    text = cast(ctx, stmt, value.py)
    versions.assign(low, stmt, _stored(items, _method(stmt), text, chosen))


def _by_sizes(ctx: Context, stmt: eq.Write) -> tuple[Py | None, eq.Write]:
    """The condition, and the store without it, where sizes alone decide whether all of it is made or nothing."""
    if stmt.accumulate or stmt.where is None or not lazy.sized(ctx, stmt.where):
        return None, stmt
    value = given(stmt.value, tuple(guards.rooms(stmt)))
    return ctx.static(stmt.where), replace(stmt, where=None, value=value)


def _stored(
    items: list[Py], method: str, value: Py, chosen: Py | None, keywords: dict[str, Py] | None = None
) -> Callable[[Py], Py]:
    def stored(base: Py) -> Py:
        new = _at(base, list(items), method, value, **(keywords or {}))
        return new if chosen is None else py.IfExp(chosen, new, base)

    return stored


def _write_rows(low: Lowering, stmt: eq.Write, frame: Frame, start: Py | None, count: Py) -> None:
    """A store by block and thread below a limit; see :mod:`kraise.emit.stores.flat`."""
    value = low.lower(stmt.value, frame)
    text = value.py if value.axes == frame else py.call("jnp.broadcast_to", value.py, low.ctx.shape_of(frame))
    if isinstance(text, py.Sub) and value.axes == frame and cast(low.ctx, stmt, text) is not text:
        text = Atom(low.define(stmt.value, frame))  # a chain of calls reads worse
    text = cast(low.ctx, stmt, flat.cut(text, count))
    cells = Slice(start, count if start is None else py.Bin("+", start, count))
    versions.assign(low, stmt, lambda base: _at(base, [cells], _method(stmt), text))


def _backward(dim: subs.Dim) -> bool:
    return isinstance(dim, subs.Range) and dim.backward


def _value(low: Lowering, stmt: eq.Write, frame: Frame) -> Val:
    if stmt.accumulate:
        return masked(low, stmt.value, stmt.where, stmt.accumulate, frame)
    if stmt.where is None:
        return low.lower(stmt.value, frame)
    old = eq.Read(stmt.before, stmt.subscripts, stmt.value.type, stmt.view)
    return low.lower(eq.Op("select", (stmt.where, stmt.value, old), stmt.value.type), frame)


def _at(base: Py, items: list[Py], method: str, value: Py, **keywords: Py) -> Py:
    while len(items) > 1 and items[-1] == ALL:
        items = items[:-1]
    return py.method(py.Sub(py.Attr(base, "at"), tuple(items)), method, value, **keywords)


def _method(stmt: eq.Write) -> str:
    kind = stmt.accumulate
    if kind in ("and", "or") and stmt.value.type.kind == "bool":
        return "min" if kind == "and" else "max"
    if kind not in _AT:
        raise refuse("KR306", f"no scatter that combines by {kind}", stmt.span)
    return _AT[kind]


def _whole(low: Lowering, stmt: eq.Write, value: Val, frame: Frame) -> None:
    ctx = low.ctx
    if stmt.accumulate:
        symbol = _WHOLE[stmt.accumulate]
        text = cast(ctx, stmt, value.py, whole=True)
        if stmt.value.type.is_integer and any(isinstance(n, eq.Index) for n in data(stmt.value)):
            text = py.method(text, "astype", versions.dtype_of(ctx, stmt.before))  # a range has the machine's width
        same = text is not value.py or same_type(ctx, stmt)  # else the sum may be wider than the array

        def combine(base: Py) -> Py:
            if symbol == "+" and isinstance(text, py.Un) and text.op == "-":
                whole: Py = py.Bin("-", base, text.operand)
            else:
                whole = py.call(symbol, base, text) if symbol.startswith("jnp") else py.Bin(symbol, base, text)
            return whole if same else py.method(whole, "astype", versions.dtype_of(ctx, stmt.before))

        versions.assign(low, stmt, combine)
        return
    text = value.py
    if not value.axes:
        shape = versions.shape_text(ctx, stmt)
        like = versions.array_like(ctx, stmt)
        text = (
            py.call("jnp.full_like", like, text)
            if like is not None and not stmt.view
            else py.call("jnp.full", shape, text, new_arrays.dtype_of(ctx, stmt.before))
        )
        versions.assign_whole(low, stmt, text)
        return
    if value.axes != frame:
        text = py.call("jnp.broadcast_to", text, versions.shape_text(ctx, stmt))
    if isinstance(stmt.value, eq.Scan) and isinstance(text, Atom) and stmt.before in ctx.blank and not stmt.view:
        versions.bind(ctx, stmt.after, text)  # it has a name
        return
    versions.assign_whole(low, stmt, typed(ctx, stmt, text))


def _from_first(dims: list[subs.Dim]) -> bool:
    """Whether a store of one axis begins at its array's first cell."""
    match dims:
        case [subs.Range(start=start, step=1, backward=False)]:
            return start.same(Linear())
    return False


def _add_within(low: Lowering, stmt: eq.Write, dims: list[subs.Dim], extents: tuple[Linear, ...], frame: Frame) -> None:
    """An accumulation over more cells than the array may have, whose mask holds for none of those behind its end."""
    ctx, stop = low.ctx, dims[0].stop  # type: ignore[union-attr]
    value = _value(low, stmt, frame)
    text = value.py if value.axes == frame else py.call("jnp.broadcast_to", value.py, ctx.shape_of(frame))
    text = cast(ctx, stmt, py.Sub(text, (Slice(None, ctx.static(extents[0])),)))
    cells = [Slice(None, ctx.static(stop))]
    versions.assign(low, stmt, lambda base: _at(base, list(cells), _method(stmt), text))


def _scatter(low: Lowering, stmt: eq.Write, dims: list[subs.Dim], extents: tuple, frame: Frame) -> None:
    ctx = low.ctx
    plain = not stmt.accumulate
    chosen, stmt = _by_sizes(ctx, stmt)
    stmt = _update(ctx, stmt)
    keywords: dict[str, Py] = {}
    where = stmt.where
    items = None if where is not None or stmt.safe else _rows(low, dims, extents, frame)
    if items is None:
        items, _ = subs.index_arrays(low, stmt.subscripts, extents, frame, False)
    # a neutral value is quicker than a place outside, which half of the lanes may take; but an infinity that meets one
    # in a cell would share its derivative
    neutral = stmt.accumulate and (stmt.accumulate not in ("min", "max") or stmt.value.type.is_integer)
    # JAX counts narrow places from the end in their own type, which may not hold the extent
    loaded = (n for n in topological(stmt.subscripts) if isinstance(n, eq.Read))
    neutral = neutral and all((n.type.bits or 0) >= 32 for n in loaded)
    drop = where is not None and not neutral
    if drop:
        assert where is not None
        k = next((k for k, s in enumerate(stmt.subscripts) if ctx.free(s)), 0)
        mask = low.lower(where, frame)
        if any(isinstance(n, eq.Read) for n in tree.walk(stmt.subscripts[k])):
            items[k] = wide(low, stmt.subscripts[k], frame).py
        items[k] = py.call("jnp.where", mask.py, items[k], ctx.static(extents[k]))
        keywords = {"mode": Atom('"drop"')}
        value = low.lower(stmt.value, frame)
    elif stmt.accumulate:
        value = masked(low, stmt.value, where, stmt.accumulate, frame)
    else:
        value = low.lower(stmt.value, frame)
    if stmt.accumulate == "mul" and not ctx.element(stmt.before.array).is_integer:
        if not plain and not {a.name for a in frame} <= told(ctx, stmt, frame):
            reason = f"several factors may meet in one element of `{stmt.before.array}`: JAX has no derivative of that"
            raise refuse("KR306", reason, stmt.span, "sum logarithms, or multiply in a loop over the element's factors")
        keywords["unique_indices"] = Atom("True")
    if not drop and _apart(ctx, stmt):
        keywords["unique_indices"] = Atom("True")  # else the gradient looks for the last store to each cell
    text = cast(ctx, replace(stmt, where=None) if drop else stmt, value.py)
    versions.assign(low, stmt, _stored(items, _method(stmt), text, chosen, keywords))


def _apart(ctx: Context, stmt: eq.Write) -> bool:
    """Whether a store is surely to different cells: not of a value that several may store to one cell all the same."""
    moved = frozenset().union(*(ctx.free(s) for s in stmt.subscripts if not isinstance(s, eq.Index)))
    own = {a.name for a in stmt.axes} & moved
    return not stmt.accumulate and not stmt.safe and bool(own) and own <= ctx.free(stmt.value)


def _rows(low: Lowering, dims: list[subs.Dim], extents: tuple, frame: Frame) -> list[Py] | None:
    """One index array among slices, as in ``A.at[idx, 1:]``."""
    gathers = [d for d in dims if isinstance(d, subs.Gather)]
    ranges = [d for d in dims if isinstance(d, subs.Range)]
    if len(gathers) != 1 or len(gathers) + len(ranges) != len(dims) or any(d.backward for d in ranges):
        return None
    axes = [d.axis for d in ranges]
    if len(set(axes)) != len(axes) or set(axes) & set(gathers[0].axes):
        return None
    order = [a for d in dims for a in (d.axes if isinstance(d, subs.Gather) else (d.axis,))]  # type: ignore[union-attr]
    if tuple(order) != frame:
        return None
    return [
        low.lower(d.expr, d.axes).py if isinstance(d, subs.Gather) else subs.slice_item(low.ctx, d, e)[0]  # type: ignore[arg-type]
        for d, e in zip(dims, extents, strict=True)
    ]


def element_dtype(kind: ScalarType) -> Py:
    """An element type as a dtype argument."""
    return Atom(dtype_text(kind))


__all__ = ["linear", "write"]
