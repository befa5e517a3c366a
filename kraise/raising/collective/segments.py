"""Running values of the lanes of a part of a warp: ``cg::inclusive_scan`` of a tile of 8."""

from __future__ import annotations

from typing import Any

from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.raising.collective.describe import Running
from kraise.raising.run.arithmetic import operation
from kraise.raising.threads.indices import LANES

ZERO = eq.Const(0, INT)


def running_of_segment(source: Any, f: Running) -> eq.Expr:
    """``op`` over the data of the lane's segment up to its own (from its own, if ``reverse``): the segment is short, so
    it is a masked sum over all of it.

    Raises:
        Beyond, ValueError: the data of another lane are not known.
    """
    source.cx.part_lanes = {LANES: f.group}
    found, lane, g = source.found, source.found.lane, eq.Const(f.group, INT)
    x = source._fresh("lane")
    body = found.at_lane(source._datum(f.family), operation("add", (source._segment(lane, f.group), x), INT))
    own = operation("mod", (lane, g), INT)
    name = {(False, True): "le", (False, False): "lt", (True, True): "ge", (True, False): "gt"}[f.reverse, f.inclusive]
    where = eq.Op(name, (x, own), BOOL)
    return eq.Reduce(f.op, (eq.Axis(x.name, ZERO, g),), body, where, body.type)


__all__ = ["running_of_segment"]
