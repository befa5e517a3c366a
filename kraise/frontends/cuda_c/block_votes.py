"""``__syncthreads_count(condition)`` and its like."""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.arithmetic import cast
from kraise.ir.block_votes import vote
from kraise.ir.types import INT32


def block_vote(low: Any, name: str, kind: str, arguments: list[Tree], node: Tree) -> Any:
    """The answer of a block's threads; ``kind`` is count, and, or."""
    low.flush()
    says = low.condition(low.scalar(arguments[0]))
    axes = tuple(a for a in range(3) if a == 0 or low.program.uses_axis(a))
    steps, answer = vote(kind, says, low.fresh("$votes"), low.fresh(kind + "_"), axes, low.span(node))
    for s in steps:
        low.emit(s)
    return answer if kind == "count" else cast(answer, INT32)
