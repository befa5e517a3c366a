"""What a loop carries, where it is used: an array over its axes, or a part of it."""

from __future__ import annotations

from kraise.diagnostics import refuse
from kraise.emit.context import Frame, Val
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear, nonnegative
from kraise.emit.text.python import ALL, Atom, Py, Slice
from kraise.ir import equations as eq


def carried(low: Lowering, node: eq.CarryIn | eq.FoldResult, frame: Frame, own: Frame) -> Val:
    """A carried scalar: an array over its axes, sliced where it is used on part of them."""
    place = "in" if isinstance(node, eq.CarryIn) else "out"
    name, axes = low.ctx.folded[(place, node.fold, node.name)]
    text: Py = Atom(name)
    # a binder around may have given the indices of a carried scalar other names
    renamed = {a.name for a in node.axes} != {a.name for a in axes} and len(node.axes) == len(axes)
    mine = node.axes if renamed and not node.name.endswith(".out") else axes
    asked = tuple(next((a for a in own if a.name == x.name), None) for x in mine)
    if None in asked and not (renamed or node.axes == axes):
        raise refuse("KR305", "a running value is used where one of its indices has no range")
    held = tuple(a for a in asked if a is not None)
    if asked != axes:
        items = tuple(
            _one(low, node.axes[at].name, x) if a is None else _part(low, a, x)
            for at, (a, x) in enumerate(zip(asked, axes, strict=True))
        )
        if sum(isinstance(i, py.Call) for i in items) > 1 or (
            None in asked and any(isinstance(i, py.Call) for i in items)
        ):
            raise refuse("KR305", "a running value is used beyond two of its axes")
        while items and items[-1] == ALL:
            items = items[:-1]
        if items:
            text = py.Sub(text, items)
    return low.extend(text, held, frame)


def _one(low: Lowering, index: str, whole: eq.Axis) -> Py:
    """The place of the lane whose number is that of the round (``if (t == k) x[k] = acc``)."""
    number: Py = Atom(low.fold_index(index))
    start = linear(whole.lo)
    return number if start.same(Linear()) else py.Bin("-", number, low.ctx.static(start))


def _part(low: Lowering, asked: eq.Axis, whole: eq.Axis) -> Py:
    if asked is whole:
        return ALL
    start = linear(asked.lo) - linear(whole.lo)
    stop = linear(asked.hi) - linear(whole.lo)
    size = linear(whole.hi) - linear(whole.lo)
    if whole.step != 1:
        return ALL
    if asked.step == 1 and not (nonnegative(start) and nonnegative(size - stop)):
        places = py.call("jnp.arange", low.ctx.static(start), low.ctx.static(stop))
        return py.call("jnp.clip", places, py.number(0), low.ctx.static(size + -1))  # a mask hides what lies beyond
    lo = None if start.same(Linear()) else low.ctx.static(start)
    hi = None if stop.same(size) else low.ctx.static(stop)
    return Slice(lo, hi, None if asked.step == 1 else py.number(asked.step)) if (lo or hi or asked.step != 1) else ALL


__all__ = ["carried"]
