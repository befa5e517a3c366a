"""Whether blocks of a size that was only suggested make sense of the source."""

from __future__ import annotations

from collections.abc import Collection

from kraise.analysis.boxes import largest
from kraise.analysis.dependence import Access, impossible
from kraise.analysis.poly import Poly, to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.ir.types import INT
from kraise.ir.walk import free_indices
from kraise.raising.run.context import Context
from kraise.raising.run.state import State
from kraise.raising.threads.indices import Ways
from kraise.raising.threads.sizes import beyond

NOTHING = eq.Const(0, INT)


def idle(cx: Context, st: State, body: tuple[k.Stmt, ...], ways: Ways, told: Collection[int]) -> bool:
    """Whether the source speaks of threads that such blocks do not have, or places the blocks further apart, or their
    stores leave gaps between the blocks, or none of theirs meets a store's guard. Axes ``told`` are those of which a
    launch says how many threads they have."""
    if all(abs(n) == 1 for n in ways.values()):
        return False
    if any(n % abs(ways[axis]) for axis, n in _placed(body) if axis in ways and 0 < abs(ways[axis]) < n):
        return True
    if beyond(body, {axis: -abs(n) for axis, n in ways.items()}, told):
        return True
    if _gaps(cx, st, {axis for axis, n in ways.items() if abs(n) > 1 and axis not in told}):
        return True
    return any(a.write and a.array not in cx.made and impossible((*a.path, *cx.facts)) for a in st.accesses)


def _gaps(cx: Context, st: State, axes: Collection[int]) -> bool:
    """Whether all threads of a block store, and to fewer cells than the next block begins further on:
    ``y[blockIdx.x * 48 + threadIdx.x]`` of blocks of 12. ``axes``: those along which a block's size is a guess."""
    own = {n for axis in axes for n in free_indices(cx.threads.get(("thread", axis), NOTHING))} - {*cx.blocks}
    launched = (*cx.facts, *cx.launch_path)
    reached: dict[tuple[str, eq.Expr, int], list[int | None]] = {}  # by array, block and how far apart they begin
    for a in st.accesses:
        for place in _places(a) if a.write and a.array not in cx.made and own else ():
            for b in place.atoms():
                apart = place.coefficient(b).value if isinstance(b, eq.Index) and b.name in cx.blocks else None
                cells = place.without(b)
                if apart is None or apart < 2 or not cells.indices() & own:
                    continue
                looped = tuple(c for c in a.path if not free_indices(c) <= {*cx.thread_names})
                most, last = (largest(cells, (*launched, *path)) for path in (looped, a.path))
                all_ = most is not None and most == last and most.value is not None
                reached.setdefault((a.array, b, apart), []).append(most.value if all_ and most is not None else None)
    return any(
        None not in ends and max(e for e in ends if e is not None) + 1 < apart
        for (_, _, apart), ends in reached.items()
    )


def _places(a: Access) -> list[Poly]:
    """The subscripts, as one where the array is seen in rows."""
    if not a.view:
        return [to_poly(s) for s in a.subscripts]
    place = Poly()
    for s, extent in zip(a.subscripts, a.view, strict=True):
        place = place * to_poly(extent) + to_poly(s)
    return [place]


def _placed(body: tuple[k.Stmt, ...]) -> list[tuple[int, int]]:
    """``blockIdx.x * 32``: axes, and how far apart the blocks begin along them."""
    found = []
    for x in walked(body):
        if isinstance(x, k.Op) and x.name == "mul" and len(x.args) == 2:
            for a, b in (x.args, x.args[::-1]):
                a, b = (e.arg if isinstance(e, k.Cast) else e for e in (a, b))
                if isinstance(a, k.Hw) and a.kind == "block" and isinstance(b, k.Const) and type(b.value) is int:
                    found.append((a.axis, b.value))
    return found


__all__ = ["idle"]
