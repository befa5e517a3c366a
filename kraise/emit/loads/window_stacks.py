"""Windows as they are, not summed: ``x[i + k]`` for all i and a few k is a stack of slices (raising.md, step 6).

``jnp.stack([x[k : k + n] for k in range(3)])``: no index arrays, and a gradient that is a sum of slices. (Measured on
patches of 3 x 3: the gradient of a gather takes 13 times as long.) The side conditions: one axis of the subscript is
long, its places overlap from one number of the short ones to the next, and the short ones are numbers, few in all.
"""

from __future__ import annotations

from math import prod

from kraise.emit.context import Block, Context, Frame, Val
from kraise.emit.loads.blocked import blocks
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.python import Atom, Py
from kraise.ir import equations as eq

_MOST = 64  # slices: each is traced and compiled


def stacked(low: Lowering, node: eq.Read, frame: Frame) -> Val | None:
    """The load as a stack of slices along its short axes; None where it has another form."""
    ctx = low.ctx
    if (node.safe and not node.outside) or ctx.generators or not any(isinstance(s, eq.Op) for s in node.subscripts):
        return None
    short: dict[eq.Axis, int] = {}
    for s in node.subscripts:
        axes = tuple(a for a in frame if a.name in ctx.free(s))
        if len(axes) > 1:
            found = _window(ctx, s, axes)
            if found is None:
                return None
            short |= found
    if not short or prod(short.values()) > _MOST:
        return None
    own = tuple(a for a in frame if a.name in ctx.free(node))
    rest = tuple(a for a in own if a not in short)
    value, names = _one(low, node, [a for a in own if a in short], rest)
    return None if value is None else low.extend(_stack(ctx, value, names, own, rest), own, frame)


def _window(ctx: Context, subscript: eq.Expr, axes: Frame) -> dict[eq.Axis, int] | None:
    """The short axes of a subscript of several and how long they are; None where it is no window."""
    form, sizes = linear(subscript), dict[eq.Axis, int]()
    factors = {a.name: c for a, c in form.terms if isinstance(a, eq.Index)}
    rest = [a for a, _ in form.terms if not isinstance(a, eq.Index)]
    if blocks(ctx, subscript, axes) or not all(a.name in factors and a.step == 1 for a in axes):
        return None
    if not ctx.is_static(Linear(tuple((a, 1) for a in rest), 0)):
        return None
    for a in axes:
        if (count := _number(linear(a.hi) - linear(a.lo))) is not None:
            sizes[a] = count
    long = [a for a in axes if a not in sizes]
    if not long:
        largest = max(sizes.values())
        long = [a for a in axes if sizes[a] == largest]
    if len(long) != 1:
        return None
    step = factors[long[0].name]
    short = {a: n for a, n in sizes.items() if a is not long[0]}
    if step < 1 or any(n < 2 or abs(factors[a.name]) * (n - 1) < step for a, n in short.items()):
        return None
    return short


def _number(size: Linear) -> int | None:
    """The size as a number, whatever names its parts have."""
    parts = [c * a.value for a, c in size.terms if isinstance(a, eq.Const) and isinstance(a.value, int)]
    return sum(parts) + size.constant if len(parts) == len(size.terms) else None


def _one(low: Lowering, node: eq.Read, short: list[eq.Axis], rest: Frame) -> tuple[Py | None, list[tuple[str, Py]]]:
    """One of the slices, and what its names run over; no slice where it needs variables of its own."""
    ctx = low.ctx
    made = [Block("", a.name, ctx.names.fresh(a.name), a, unrolled=True) for a in short]
    for block in made:
        ctx.enter(block)
    ctx.generators += 1
    try:
        value = low.raw(node, rest, rest)  # not by a variable: it would be one of each round
    finally:
        ctx.generators -= 1
        for block in made:
            ctx.leave()
            ctx.names.release(block.index_text)
    names: list[tuple[str, Py]] = [
        (b.index_text, py.Call(Atom("range"), ctx.range_arguments(a))) for b, a in zip(made, short, strict=True)
    ]
    plain = value.axes == rest and value.rank == len(rest) and not any(b.lines for b in made)
    return (value.py if plain else None), names


def _stack(ctx: Context, one: Py, names: list[tuple[str, Py]], own: Frame, rest: Frame) -> Py:
    short = [a for a in own if a not in rest]
    first = own.index(short[0])
    if own[first : first + len(short)] == tuple(short):
        every = py.call("jnp.stack", py.Generator(one, tuple(names), listed=True), **_axis(first))
        sizes = () if len(short) == 1 else tuple(ctx.extent(a) for a in own)
        return py.method(every, "reshape", *sizes) if sizes else every
    text = one
    for at in range(len(short) - 1, -1, -1):
        axis = sum(a in rest or a in short[at + 1 :] for a in own[: own.index(short[at])])
        text = py.call("jnp.stack", py.Generator(text, (names[at],), listed=True), **_axis(axis))
    return text


def _axis(at: int) -> dict[str, Py]:
    return {"axis": py.number(at)} if at else {}


__all__ = ["stacked"]
