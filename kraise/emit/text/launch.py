"""The text of a launch's extents: ``grid``, ``block[1]``, the threads along an axis, and what stands in where none is
given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraise.emit import tree
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


def rank_of(kernel: eq.Kernel) -> int:
    """How many axes of the launch a kernel looks at."""
    found = 1
    for node in _everything(kernel):
        if isinstance(node, eq.Param):
            head, _, axis = node.name.partition(".")
            if head in ("grid", "block", "threads") and axis in ("x", "y", "z"):
                found = max(found, "xyz".index(axis) + 1)
    return found


def _everything(kernel: eq.Kernel):  # type: ignore[no-untyped-def]
    roots: list[eq.Expr] = [c for c, _ in kernel.checks]
    axes: list[eq.Axis] = []
    for stmt in tree.statements(kernel.body):
        roots += tree.statement_roots(stmt)
        match stmt:
            case eq.Write(axes=own, view=view):
                axes += own
                roots += view
            case eq.New(shape=shape):
                roots += shape
            case eq.Fold(axis=axis) if axis is not None:
                axes.append(axis)
    for node in tree.walk(*roots):
        yield node
        axes += tree.axes_of(node)
        if isinstance(node, eq.Read):
            yield from tree.walk(*node.view)
    for a in axes:
        yield from tree.walk(a.lo, a.hi)
