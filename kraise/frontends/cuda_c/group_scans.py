"""``cg::inclusive_scan`` and ``cg::exclusive_scan`` of a tile: the steps of shuffles that compute them."""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.arithmetic import cast
from kraise.frontends.cuda_c.trees import words
from kraise.frontends.cuda_c.values import Group
from kraise.ir.kernel import Const, Expr, Op, Warp
from kraise.ir.types import BOOL, INT32

_OPERATIONS = {"plus": "add", "greater": "max", "less": "min"}


def tile_scan(low: Any, group: Group, method: str, arguments: list[Tree], node: Tree) -> Expr:
    """The running value of this thread's ``arguments[0]`` in its tile. Raises Refused."""
    op = "add"
    if len(arguments) > 1:
        op = next((_OPERATIONS[w] for w in words(arguments[1]) if w in _OPERATIONS), "")
    exclusive = method == "exclusive_scan"
    if not op or (exclusive and op != "add"):
        reason = "this scan of a tile is not raised"
        raise low.refuse("KR299", reason, node, "scan with cg::plus; the first value of other exclusive scans is open")
    span = low.span(node)
    rank = cast(low.group_method(group, "thread_rank", [], node), INT32)
    value = low.scalar(arguments[0])
    t = value.type
    value = low.temporary(value, "running", node)
    distance = 1
    while distance < group.size:
        step = Const(distance, INT32)
        other = low.temporary(Warp("shfl_up", (value, step), t, group.size, span=span), "before", node)
        inside = Op("ge", (rank, step), BOOL, span=span)
        both = Op(op, (other, value), t, span=span)
        value = low.temporary(Op("select", (inside, both, value), t, span=span), "running", node)
        distance *= 2
    if not exclusive:
        return value
    other = low.temporary(Warp("shfl_up", (value, Const(1, INT32)), t, group.size, span=span), "before", node)
    first = Op("ge", (rank, Const(1, INT32)), BOOL, span=span)
    zero = Const(0.0 if t.is_inexact else 0, t)
    return low.temporary(Op("select", (first, other, zero), t, span=span), "running", node)
