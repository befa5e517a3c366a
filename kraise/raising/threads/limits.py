"""How many threads a block can have at most: as many as there are cells that each of them touches."""

from __future__ import annotations

from collections.abc import Iterator

from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.raising.threads.sizes import from_thread, thread_locals
from kraise.raising.threads.spelled import once


def limits(body: tuple[k.Stmt, ...], guarded: bool = False) -> dict[int, int]:
    """The most threads that a block can have along each axis: ``s[threadIdx.x]`` of 16 cells, made or read by every
    thread, or ``s[threadIdx.x + 8]``. ``guarded``: or by each whose element there is, ``if (i < n) s[...] =``."""
    names, values = thread_locals(body), once(walked(body))
    found: dict[int, int] = {}
    shapes = {s.name: s.shape for s in walked(body) if isinstance(s, k.LocalArray) and s.space == "shared"}
    sure = list(body)  # under no condition
    while sure:
        s = sure.pop()
        if isinstance(s, k.For | k.While):
            sure += s.body
        if isinstance(s, k.If) and guarded and not _of_threads(s.condition, names, values):
            sure += [*s.body, *s.orelse]
        for cell in _touched_by_all(s):
            for at, extent in zip(cell.subscripts, shapes.get(cell.array, ()), strict=False):
                place = from_thread(at, names, values)
                if place is not None and isinstance(extent, k.Const) and type(extent.value) is int:
                    axis, most = place[0], extent.value - place[1]
                    found[axis] = min(most, found.get(axis, most))
    return found


def _touched_by_all(s: k.Stmt) -> Iterator[k.Store | k.Load]:
    """The cells that every thread touches that runs a store or an assignment: not those of an arm of a choice."""
    if isinstance(s, k.Store):
        yield s
    stack: list[object] = [s.value] if isinstance(s, k.Store | k.Assign) else []
    while stack:
        match stack.pop():
            case k.Load(subscripts=subs) as load:
                yield load
                stack += subs
            case k.Op(name="select" | "and" | "or", args=(first, *_)):
                stack.append(first)
            case k.Op(args=args) | k.Call(args=args):
                stack += args
            case k.Cast(arg=a):
                stack.append(a)


def _of_threads(e: k.Expr, names: dict[str, int], values: dict[str, k.Expr]) -> bool:
    """Whether a condition picks threads of the block: ``threadIdx.x == 0``, ``threadIdx.y + 1 < 4``."""
    compared = (n for n in walked((e,)) if isinstance(n, k.Op) and n.type.kind == "bool")
    return any(from_thread(a, names, values) is not None for n in compared for a in n.args)


__all__ = ["limits"]
