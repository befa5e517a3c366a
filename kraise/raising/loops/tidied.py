"""The body of a function with plainer loops that say the same (Kernel IR to Kernel IR)."""

from __future__ import annotations

from kraise.ir import kernel as k
from kraise.raising.loops.accumulated_cells import without_cells
from kraise.raising.loops.accumulators import one_accumulator
from kraise.raising.loops.fused import without_fused
from kraise.raising.loops.plain_exits import without_exits
from kraise.raising.loops.rerolled import rerolled
from kraise.raising.memory.needless import without_needless


def tidied(body: tuple[k.Stmt, ...]) -> tuple[k.Stmt, ...]:
    """``body`` without needless exits and guards, with as few accumulators and loops as it needs."""
    return rerolled(one_accumulator(without_cells(without_needless(without_fused(without_exits(body))))))


__all__ = ["tidied"]
