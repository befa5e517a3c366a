"""Segments of a flat range: the row of each entry, and totals by row."""

from __future__ import annotations

from kraise.emit import tree
from kraise.emit.context import Frame, Val
from kraise.emit.lower import Lowering
from kraise.emit.stores import versions
from kraise.emit.sums.reductions import guarded, masked
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.python import Atom, Py
from kraise.ir import equations as eq

FUNCTIONS = {"add": "sum", "min": "min", "max": "max", "and": "min", "or": "max"}


def total(low: Lowering, stmt: eq.Write, frame: Frame) -> None:
    """A total for each row: a segment sum (or minimum or maximum) of what stands in the flat range."""
    ctx = low.ctx
    ids = stmt.subscripts[0]
    own = tuple(a for a in frame if a.name in ctx.free(ids))
    rows = low.as_name(ids, own, "row")
    where = stmt.where
    if where is not None and _says_row(where, ids):
        ctx.hints.setdefault(where, "inside")
    if where is None or _says_row(where, ids):
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
    count = ctx.static(ctx.extents[stmt.before.array][0])
    call = py.call(
        f"jax.ops.segment_{FUNCTIONS[stmt.accumulate]}", text, rows.py, count, indices_are_sorted=Atom("True")
    )
    versions.assign_whole(low, stmt, call)


def _says_row(where: eq.Expr, ids: eq.Expr) -> bool:
    """Whether the condition speaks of nothing but the row: a point outside every row is dropped anyway."""
    reads = [n for n in tree.walk(where) if isinstance(n, eq.Read)]
    return all(n is ids for n in reads)


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
        text = py.Bin("-", text, low.ctx.static(lo))
    counts = py.call("jnp.bincount", text, length=low.ctx.at_least_zero(size))
    return low.extend(py.call("jnp.cumsum", counts), own, frame)
