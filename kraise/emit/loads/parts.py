"""Values made of parts of arrays, ``u[1:-1, 2:] - u[1:-1, :-2]``: one that is used twice has a name, a part itself one
where it is used three times.

JAX pads the gradient of each part with zeros, once for each place at which the part is taken.
"""

from __future__ import annotations

from kraise.emit import tree
from kraise.emit.context import Frame
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.linear import linear
from kraise.emit.text.python import ALL
from kraise.ir import equations as eq

MANY = 3
_NUMBER = (eq.Const, eq.Param)


def of_slices(low: Lowering, node: eq.Expr, own: Frame) -> bool:
    """Whether a value with a derivative is made of slices that are no whole arrays (and is no multiple of one)."""
    if not own or node.type.is_integer or node.type.kind == "bool":
        return False
    multiple = isinstance(node, eq.Op) and node.name == "mul" and any(isinstance(a, _NUMBER) for a in node.args)
    return not multiple and any(isinstance(c, eq.Read) and _is_part(low.lower(c, own).py) for c in tree.children(node))


def often(low: Lowering, node: eq.Read, own: Frame) -> bool:
    """Whether a load is a part of an array that is taken MANY times, and not its first cells, ``x[:n]``, of which
    nothing else is taken."""
    if low.ctx.uses[node] < MANY or node in low.ctx.hints or node.type.is_integer or node.type.kind == "bool":
        return False
    text = low.raw(node, own, own).py
    if node.safe or node.outside or not _is_part(text):
        return False
    behind = any(linear(s).constant < 0 for s in node.subscripts)
    return behind or any(not _first(i) for i in text.items)  # type: ignore[union-attr]


def _first(item: py.Py) -> bool:
    """``:n``, a whole axis, or a place."""
    return not isinstance(item, py.Slice) or (item.lo is None and item.step is None)


def _is_part(text: py.Py) -> bool:
    return isinstance(text, py.Sub) and any(isinstance(i, py.Slice) and i != ALL for i in text.items)


__all__ = ["of_slices"]
