"""Axes along which the source counts on one block.

``out[blockIdx.y] = s[0]`` by a block that holds a whole row is a race of the blocks along x, unless there is one. That
a launch has one is said in the docstring and checked. Where no other axis tells the blocks apart it stays a race: the
store that should have been an atomic.

So it is with threads along an axis of which the source looks at the blocks alone (``j = blockIdx.y``): where they share
memory they are one, or the rounds of a tree would be a race of theirs.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraise.analysis.dependence import Access
from kraise.ir import equations as eq
from kraise.ir import launches
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices
from kraise.raising.memory.phases import BARRIER
from kraise.raising.run.context import Context
from kraise.raising.threads.hardware import hardware


def one_block(cx: Context, axis: int, letter: str) -> None:
    """The launch has one block along an axis: said in the docstring, and checked where a launch is given."""
    cx.threads["block", axis], cx.threads["gridDim", axis] = eq.Const(0, INT), eq.Const(1, INT)
    _only_one(cx, f"grid.{letter}", f"the launch has one block along {letter}")


def lone_axes(cx: Context, accesses: Iterable[Access]) -> frozenset[int]:
    """The axes along which the source counts on one block: its launches say so, or every store to the caller's arrays
    leaves out the axis and tells the block of another one (``out[blockIdx.y] = s[0]``, the sum of a row that one block
    holds)."""
    launched = frozenset(a for a in launches.one_block(cx.module.hosts, cx.function.name) if ("block", a) in cx.threads)
    if launched:
        return launched
    stores = [a for a in accesses if a.write and a.array not in cx.made and a.array != BARRIER]
    if not cx.shared or any(a.atomic for a in stores):
        return frozenset()
    own = {
        axis: free_indices(cx.threads["block", axis]) | free_indices(cx.threads.get(("thread", axis), eq.Const(0, INT)))
        for axis in range(3)
        if ("block", axis) in cx.threads
    }
    told = [frozenset().union(*(free_indices(s) for s in a.subscripts)) for a in stores]
    found = [axis for axis in own if ("thread", axis) in cx.threads and not any(t & own[axis] for t in told)]
    others = [own[axis] for axis in own if axis not in found]
    return frozenset(found) if stores and others and all(any(t & o for o in others) for t in told) else frozenset()


def one_thread(cx: Context, letter: str) -> None:
    """A block has one thread along an axis: said in the docstring, and checked where a launch is given."""
    _only_one(cx, f"block.{letter}", f"a block has one thread along {letter}")


def _only_one(cx: Context, extent: str, text: str) -> None:
    cx.assumptions.append(text)
    cx.checks.append((eq.Op("eq", (eq.Param(extent, INT), eq.Const(1, INT)), BOOL), text))


def in_line(cx: Context) -> frozenset[int]:
    """The axes of which the source looks at the blocks alone, while its threads share memory and add."""
    looked_at = hardware(cx.bodies())
    blocks = {axis for kind, axis in looked_at if kind == "block"}
    mine = {axis for kind, axis in looked_at if kind in ("thread", "blockDim")}
    return frozenset(a for a in blocks - mine if cx.shared and ("thread", a) in cx.threads)


__all__ = ["in_line", "lone_axes", "one_block", "one_thread"]
