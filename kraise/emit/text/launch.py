"""The text of a launch's extents: ``grid``, ``block[1]``, the threads along an axis, and what stands in where none is
given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraise.emit.blocks import Assign
from kraise.emit.text import python as py
from kraise.emit.text.python import Atom, Py
from kraise.ir import equations as eq

if TYPE_CHECKING:
    from kraise.emit.context import Context


def extent_text(context: Context, head: str, axis: str) -> str:
    """``grid`` in a one-dimensional launch, ``grid[1]`` in others."""
    context.needs.add(f"launch {head} {axis}")
    default = dict(context.kernel.ndrange).get(f"{head}.{axis}") if context.kernel.launch == "optional" else None
    if default is not None:
        return _given_or(context, head, axis, default)
    if context.launch_rank == 1:
        return head
    return f"{head}[{'xyz'.index(axis)}]"


def _given_or(context: Context, head: str, axis: str, default: eq.Expr) -> str:
    """The extent of the launch, or what it is where none is given, in a variable."""
    key = (head, axis)
    known = context.blocks[0].variables.get(key)
    if known is None:
        given = Atom(head if context.launch_rank == 1 else f"{head}[{'xyz'.index(axis)}]")
        text = py.IfExp(py.Bin("is", Atom(head), py.NONE), context.static(default), given)
        known = (context.names.fresh("blocks" if context.launch_rank == 1 else f"blocks_{axis}"), ())
        context.blocks[0].lines.append(Assign(known[0], text))
        context.blocks[0].variables[key] = known
    return known[0]


def threads_text(context: Context, axis: str) -> str:
    """The number of threads along an axis of the launch, in a variable."""
    key = ("threads", axis)
    known = context.blocks[0].variables.get(key)
    if known is None:
        grid, block = (Atom(extent_text(context, head, axis)) for head in ("grid", "block"))
        text: Py = py.Bin("*", grid, block)
        default = dict(context.kernel.ndrange).get(f"threads.{axis}")
        if default is not None and context.kernel.launch == "optional":
            text = py.IfExp(py.Bin("is", Atom("grid"), py.NONE), context.static(default), text)
        known = (context.names.fresh("threads" if context.launch_rank == 1 else f"threads_{axis}"), ())
        context.blocks[0].lines.append(Assign(known[0], text))
        context.blocks[0].variables[key] = known
    return known[0]
