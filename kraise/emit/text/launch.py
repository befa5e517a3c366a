"""The text of a launch's extents: ``grid``, ``block[1]``, the threads along an axis, and what stands in where none is
given."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kraise.emit import tree
from kraise.emit.blocks import Assign, Stmt, failing
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


def lines(context: Context, kernel: eq.Kernel, body: str) -> list[str]:
    """The grid and the block that ``body`` reads: by axis where the kernel looks at several, else along x."""
    lines: list[str] = []
    rank = context.launch_rank
    ones = ", ".join(["1"] * (rank - 1))
    for name in ("grid", "block"):
        if not kernel.launch or not re.search(rf"\b{name}\b", body):
            continue
        along = f"{name}[0]"
        if one_row := kernel.one_row if name == "block" else 0:
            context.needs.add("math")
            along = f"math.prod({name}[:2])" if one_row == 2 else f"math.prod({name})"
        if rank == 1:
            lines.append(f"    {name} = {along} if isinstance({name}, tuple) else {name}")
            continue
        indent = "    "
        if kernel.launch == "optional":
            lines.append(f"    if {name} is not None:")
            indent += "    "
        if one_row:
            lines.append(f"{indent}{name} = ({along} if isinstance({name}, tuple) else {name},)")
            continue
        whole = f"{indent}{name} = (*{name}, {ones})[:{rank}] if isinstance({name}, tuple) else ({name}, {ones})"
        if len(whole) <= 88:
            lines.append(whole)
        else:
            lines.append(f"{indent}{name} = {name} if isinstance({name}, tuple) else ({name},)")
            lines.append(f"{indent}{name} = (*{name}, {ones})[:{rank}]")
    return lines


def told_apart(context: Context, kernel: eq.Kernel) -> list[Stmt]:
    """Checks that a launch has no threads along further axes, where each of them would add once more."""
    told: dict[int, list[str]] = {}  # by the number of axes that are told apart
    for name in kernel.adds if kernel.launch else ():
        told.setdefault(max(context.launch_rank, kernel.one_row if name == "block" else 0), []).append(name)
    out: list[Stmt] = []
    for rank, names in told.items():
        if rank == 3:
            continue
        more = f"e[{rank}:] > {'(1, 1)' if rank == 1 else '(1,)'}"
        test = f"any(isinstance(e, tuple) and {more} for e in (grid, block))"
        if len(names) == 1:
            test = f"isinstance({names[0]}, tuple) and {names[0]}{more[1:]}"
        said = f"{kernel.name}: more threads along {'y or z' if rank == 1 else 'z'} would add again"
        out.append(failing(test, said))
    return out


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
