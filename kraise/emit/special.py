"""The emitter's own operations, by what writes them out."""

from __future__ import annotations

from kraise.emit import bit_order
from kraise.emit.context import Frame, Val
from kraise.emit.loads import picked
from kraise.emit.loops import triangular
from kraise.emit.lower import Lowering
from kraise.ir import equations as eq

_OWN = {module.NAME: module.lowered for module in (triangular, bit_order, picked)}


def lowered(low: Lowering, node: eq.Op, frame: Frame) -> Val | None:
    """The value of such an operation; None for one of the table."""
    own = _OWN.get(node.name)
    return None if own is None else own(low, node, frame)


__all__ = ["lowered"]
