"""Products with windows that lie side by side, ``sum over k < 8 of w[y, k] * x[8 * b + k]``: the windows are rows.

Such a sum is a contraction of ``x`` in rows of 8, not a sum of eight strided slices (the rows of a discrete cosine
transform, patches of a picture: measured on a CPU, the gradient of the slices takes three times as long).
"""

from __future__ import annotations

from kraise.emit import tree
from kraise.emit.context import Frame
from kraise.emit.loads.blocked import blocks
from kraise.emit.lower import Lowering
from kraise.emit.sums import contraction
from kraise.ir import equations as eq


def contracted(low: Lowering, node: eq.Reduce, own: Frame) -> bool:
    """Whether a sum is one of products of such windows with something that they all meet."""
    if node.op != "add" or node.where is not None or node.type.kind == "bool":
        return False
    summed = frozenset(a.name for a in node.axes)
    inside = [f for f in contraction.factored(low, node.body, {*summed}).factors if low.ctx.free(f) & summed]
    frame = (*own, *node.axes)
    if len(contraction.grouped(low, inside, frame, summed)) < 2:
        return False
    found = False
    for load in (n for n in tree.walk(*inside) if isinstance(n, eq.Read)):
        for s in load.subscripts:
            axes = tuple(a for a in frame if a.name in low.ctx.free(s))
            if len(axes) > 1 and any(a.name in summed for a in axes):
                if load.safe or load.outside or blocks(low.ctx, s, axes) is None:
                    return False
                found = True
    return found


__all__ = ["contracted"]
