"""Places of extrema, and where values belong in what is sorted: ``argmin``, ``argmax``, ``searchsorted``."""

from __future__ import annotations

from kraise.emit.context import Frame, Val
from kraise.emit.lower import Lowering
from kraise.emit.sums import over_windows
from kraise.emit.sums.nothing import doubtful
from kraise.emit.sums.reductions import masked, reduction
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear, nonnegative
from kraise.emit.text.python import Atom
from kraise.ir import equations as eq


def arg_reduce(low: Lowering, node: eq.ArgReduce, frame: Frame, own: Frame) -> Val:
    """``argmin``/``argmax`` along an axis, as an index value."""
    axis = node.axis
    inner, where = (*own, axis), len(own)
    text = over_windows.stacked(low, node, own)
    if text is not None:
        where = 0
    else:
        value = masked(low, node.body, node.where, node.op, inner)
        text = value.py
        if axis not in value.axes:
            text = py.call("jnp.broadcast_to", text, low.ctx.shape_of(inner))
    if node.last:
        text = py.call("jnp.flip", text, axis=py.number(where))
    text = reduction(f"arg{node.op}", text, (where,) if own else ())
    if node.last:
        size = low.ctx.size(axis)
        last = py.Bin("-", low.ctx.extent(axis), py.number(1)) if size is None else low.ctx.static(size + -1)
        text = py.Bin("-", last, text)
    if axis.step != 1:
        text = py.Bin("*", text, py.number(axis.step))
    lo = linear(axis.lo)
    if not lo.same(Linear()):
        text = py.Bin("+", text, low.ctx.static(lo))
    size = linear(axis.hi) - lo
    maybe = not nonnegative(size) or doubtful(low, node, own)
    if size.terms and maybe and not any(nonnegative(size - a + -1) for a in low.ctx.assumed):
        # a range that starts late may hold nothing, and argmin refuses that
        start = low.ctx.static(lo)
        empty = start if not own else py.call("jnp.full", low.ctx.shape_of(own), start)
        if own and lo.same(Linear()):
            empty = py.call("jnp.zeros", low.ctx.shape_of(own), Atom("int"))
        some = py.Bin(">", low.ctx.static(Linear(size.terms)), py.number(-size.constant))
        text = py.IfExp(some, text, empty)
    return low.extend(text, own, frame)


def place(low: Lowering, node: eq.ArgReduce, frame: Frame, own: Frame) -> Val:
    """Where a value belongs in what is sorted: ``searchsorted``."""
    assert isinstance(node.body, eq.Op)
    found, wanted = node.body.args
    text = low.lower(found, (node.axis,)).py
    value = low.lower(wanted, own)
    side = {"side": Atom('"right"')} if node.body.name == "le" else {}
    text = py.call("jnp.searchsorted", text, low.as_name(wanted, own).py, **side)
    lo = linear(node.axis.lo)
    if not lo.same(Linear()):
        text = py.Bin("+", text, low.ctx.static(lo))
    return low.extend(text, value.axes, frame)
