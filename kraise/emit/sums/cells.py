"""The sum of all that lies in a block of a grid, each cell in a term of its own, as a sum over the block's axes.

``u[2 * r, 2 * c] + u[2 * r, 2 * c + 1] + u[2 * r + 1, 2 * c] + u[2 * r + 1, 2 * c + 1]`` are four slices in steps of
two, of each of which the gradient is an array of zeros filled up. In blocks, ``u.reshape(rows, 2, cols, 2)``, the rows
are summed first, and the few columns of these sums added (measured on blocks of 2 by 2: the gradient takes 0.5 of the
time; a sum over all of a block's axes at once would take five times as long for the values).
"""

from __future__ import annotations

from itertools import product

from kraise.emit.context import Assign, Frame, Val
from kraise.emit.loads.dims import Range
from kraise.emit.loads.subscripts import slice_item, subscripted, viewed
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.python import Atom, Py
from kraise.ir import equations as eq

_MOST = 64  # cells of a block
_FEW = 4  # columns that are added one by one


def summed(low: Lowering, node: eq.Op, frame: Frame) -> Val | None:
    """The sum of all cells of blocks of at least two axes, or None."""
    if node.name != "add" or node.type.kind != "float" or node.type.bits is None:
        return None
    loads = _loads(low, node)
    if len(loads) < 4:
        return None
    first, forms = loads[0], [[linear(s) for s in n.subscripts] for n in loads]
    own, steps = [], []
    for parts in zip(*forms, strict=True):
        axis, step = _axis(parts[0], frame)
        if axis is None or any((p - parts[0]).terms for p in parts):
            return None
        own.append(axis)
        steps.append(step)
    if tuple(a for a in frame if a in own) != tuple(own) or len({*own}) < len(own) or sum(s > 1 for s in steps) < 2:
        return None
    cells = sorted(tuple(p.constant for p in parts) for parts in forms)
    if cells != list(product(*map(range, steps))):
        return None
    ctx = low.ctx
    extents = ctx.array_extents(first.version, first.view)
    items: list[Py] = []
    shape: list[Py] = []
    for axis, step, extent in zip(own, steps, extents, strict=True):
        items.append(slice_item(ctx, Range(axis, Linear(), linear(axis.hi).times(step), 1), extent)[0])
        shape += [ctx.extent(axis)] if step == 1 else [ctx.extent(axis), py.number(step)]
    depth, array = ctx.depth(node), first.version.array.split(".")[-1]
    blocks = ctx.names.fresh(f"{array}{len(shape)}")
    part = subscripted(viewed(ctx, first.version, first.view), items)
    ctx.emit(Assign(blocks, py.method(part, "reshape", *shape)), depth)
    along = [at + sum(s > 1 for s in steps[:at]) + 1 for at, s in enumerate(steps) if s > 1]
    columns = along[-1] == len(shape) - 1 and steps[-1] <= _FEW
    over = tuple(map(py.number, along[:-1] if columns else along))
    text: Py = py.method(Atom(blocks), "sum", axis=over[0] if len(over) == 1 else py.Tup(over))
    if columns:
        rows = ctx.names.fresh("rows")
        ctx.emit(Assign(rows, text), depth)
        text = _column(rows, 0)
        for k in range(1, steps[-1]):
            text = py.Bin("+", text, _column(rows, k))
    return low.extend(text, tuple(own), frame)


def _column(array: str, k: int) -> Py:
    return py.Sub(Atom(array), (Atom("..."), py.number(k)))


def _loads(low: Lowering, node: eq.Expr) -> list[eq.Read]:
    """What a sum adds where that are loads of one array, each used here only; none of another sum."""
    out: list[eq.Read] = []
    stack = [node]
    while stack:
        top = stack.pop()
        match top:
            case eq.Op(name="add", args=args) if top is node or low.ctx.uses[top] < 2 and top not in low.ctx.wishes:
                stack += reversed(args)
            case eq.Read(safe=False, outside=(), limit=None) if len(out) < _MOST and low.ctx.uses[top] < 2:
                if out and (top.version, top.view, top.type) != (out[0].version, out[0].view, out[0].type):
                    return []
                out.append(top)
            case _:
                return []
    return out


def _axis(form: Linear, frame: Frame) -> tuple[eq.Axis | None, int]:
    """The index of a subscript and the step in which it goes."""
    index, step = form.terms[0] if len(form.terms) == 1 else (None, 0)
    axis = next((a for a in frame if isinstance(index, eq.Index) and a.name == index.name), None)
    if axis is None or axis.step != 1 or not linear(axis.lo).same(Linear()) or step < 1:
        return None, 0
    return axis, step


__all__ = ["summed"]
