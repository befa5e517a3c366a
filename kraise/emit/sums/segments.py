"""Segments of a flat range: the row of each entry, and totals by row."""

from __future__ import annotations

from kraise.emit import tree
from kraise.emit.blocks import least
from kraise.emit.context import Frame, Val
from kraise.emit.lower import Lowering
from kraise.emit.stores import versions
from kraise.emit.sums.reductions import guarded, masked
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear, nonnegative
from kraise.emit.text.python import Atom, Py
from kraise.ir import equations as eq
from kraise.ir.open_types import is_open
from kraise.ir.types import FLOAT

SOME = "some entry"  # the operation of a sum that :mod:`kraise.emit.sums.row_ends` makes
FUNCTIONS = {"add": "sum", "min": "min", "max": "max", "and": "min", "or": "max"}


def total(low: Lowering, stmt: eq.Write, frame: Frame) -> None:
    """A total for each row: a segment sum (or minimum or maximum) of what stands in the flat range."""
    ctx = low.ctx
    ids = stmt.subscripts[0]
    own = tuple(a for a in frame if a.name in ctx.free(ids))
    rows = low.as_name(ids, own, "row")
    where = stmt.where
    inside = where is None or _says_row(where, ids, ctx.extents[stmt.before.array][0])
    if where is not None and inside:
        ctx.hints.setdefault(where, "inside")
    if inside:
        body = stmt.value if where is None else guarded(low, stmt.value, where)
        if where is not None and body is not stmt.value:
            low.as_name(where, frame, "inside")
        value = low.lower(body, frame)
    else:
        value = masked(low, stmt.value, where, stmt.accumulate, frame)
    text = value.py
    if value.axes != frame:
        text = py.call("jnp.broadcast_to", text, ctx.shape_of(frame))
    if stmt.accumulate == "add" and stmt.value.type.kind == "bool":
        text = py.method(text, "astype", Atom("int"))
    elif ctx.element(stmt.before.array) == FLOAT and is_open(stmt.value):
        text = py.as_floats(text)  # JAX would sum integers in their own width
    rows_in_all = linear(ctx.extents[stmt.before.array][0])
    # pointers are one more than rows: there is one at least
    there = nonnegative(least(rows_in_all, ctx.blocks) + 1)
    count = ctx.static(rows_in_all) if there else ctx.at_least_zero(rows_in_all)
    call = py.call(
        f"jax.ops.segment_{FUNCTIONS[stmt.accumulate]}", text, rows.py, count, indices_are_sorted=Atom("True")
    )
    versions.assign_whole(low, stmt, call)


def _says_row(where: eq.Expr, ids: eq.Expr, rows: eq.Expr) -> bool:
    """Whether the condition says no more than that the row is one of ``rows``: what is outside is dropped anyway."""
    match where:
        case eq.Op(name="and", args=(a, b)):
            return _says_row(a, ids, rows) and _says_row(b, ids, rows)
        case eq.Op(name="ge", args=(a, eq.Const(value=0))):
            return a is ids
        case eq.Op(name="lt", args=(a, b)):
            return a is ids and linear(b).same(linear(rows))
    return False


def some_entry(low: Lowering, node: eq.Reduce, frame: Frame, own: Frame) -> Val:
    """Whether some entry of a pointer array, none of them negative, is an index or a number more."""
    assert isinstance(node.body, eq.Op)
    start, place = node.body.args
    (axis,) = own
    more, size = linear(place).constant, low.ctx.size(axis)
    assert size is not None
    none = py.call("jnp.zeros", low.ctx.at_least_zero(size + more), Atom("bool"))
    places = py.Sub(py.Attr(none, "at"), (low.lower(start, node.axes).py,))
    text: Py = py.method(places, "set", Atom("True"), mode=Atom('"drop"'))
    text = py.Sub(text, (py.Slice(py.number(more), None),)) if more else text
    return low.extend(text, own, frame)


def counted_up_to(low: Lowering, node: eq.Reduce, frame: Frame, own: Frame) -> Val | None:
    """How many entries of an array are not greater than an index: ``cumsum(bincount(…))``, whatever their order."""
    if node.op != "add" or len(node.axes) != 1 or not isinstance(node.body, eq.Const) or node.body.value != 1:
        return None
    (entry,) = node.axes
    match node.where:
        case eq.Op(name="le", args=(start, eq.Index() as k)):
            pass
        case _:
            return None
    axis = next((a for a in own if a.name == k.name), None)
    size = None if axis is None else low.ctx.size(axis)
    if axis is None or size is None or own != (axis,) or k.name in low.ctx.free(start):
        return None
    if low.ctx.free(start) != {entry.name}:
        return None
    value = low.lower(start, (entry,))
    text: Py = value.py
    lo = linear(axis.lo)
    if not lo.same(Linear()):
        types = {low.ctx.element(n.version.array) for n in tree.walk(start) if isinstance(n, eq.Read)}
        if any(t.kind in ("uint", "number") for t in types):  # below it an unsigned one would wrap
            text = py.call("jnp.maximum", text, low.ctx.static(lo))
        text = py.Bin("-", text, low.ctx.static(lo))
    counts = py.call("jnp.bincount", text, length=low.ctx.at_least_zero(size))
    return low.extend(py.call("jnp.cumsum", counts), own, frame)
