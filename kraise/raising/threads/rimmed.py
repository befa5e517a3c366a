"""Sizes of blocks that the rims of their tiles tell: tiles whose cells are filled to the end (raising.md, step 2)."""

from __future__ import annotations

from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.raising.threads.indices import LANES, Ways
from kraise.raising.threads.part_warps import parts
from kraise.raising.threads.sizes import from_thread, inside, once, thread_locals
from kraise.raising.threads.spelled import addends, bare, number, thread_axis
from kraise.raising.threads.told import contradicts


def without_launch(start: Ways, body: tuple[k.Stmt, ...], by_warps: bool, told: dict[int, int]) -> list[Ways]:
    """Ways to bind the threads under which the launch may have no say in what is stored."""
    found = [start | {LANES: n} for n in (parts(body) if by_warps else ())]
    rims = {} if start else _rimmed(body)
    return [*found, rims] if rims and not contradicts(rims, told) else found


def _rimmed(body: tuple[k.Stmt, ...]) -> Ways:
    """The sizes of blocks whose threads fill tiles with rims to their ends: ``s[t + 2] = ...`` of 18 cells fits 16
    threads, and ``if (t < 3) s[t + 3 + blockDim.x] = ...`` of 134 cells fits 128."""
    nodes = list(walked(body))
    names, values = thread_locals(body), once(nodes)
    shapes = {s.name: s.shape for s in nodes if isinstance(s, k.LocalArray) and s.space == "shared"}
    found = {axis: -n for axis, n in inside(nodes, shapes, names).items() if n > 1}
    for guard in nodes:
        match guard:
            case k.If(condition=k.Op(name="lt", args=(t, few))) if (n := number(few)) is not None:
                axis = thread_axis(bare(t), names)
            case _:
                continue
        for s in walked(guard.body):
            if isinstance(s, k.Store) and len(shapes.get(s.array, ())) == len(s.subscripts):
                for at, extent in zip(s.subscripts, shapes[s.array], strict=True):
                    cells, before = number(extent), _beyond_block(at, axis, names, values)
                    if axis is not None and cells is not None and before is not None and cells - before - n > 1:
                        found[axis] = -(cells - before - n)
    return found


def _beyond_block(e: k.Expr, axis: int | None, names: dict[str, int], values: dict[str, k.Expr]) -> int | None:
    """The c of ``threadIdx.x + blockDim.x + c``."""
    parts = addends(e)
    far = [p for p in parts if isinstance(p, k.Hw) and (p.kind, p.axis) == ("blockDim", axis)]
    rest = [p for p in parts if p not in far]
    places = [from_thread(p, names, values) for p in rest]
    own, numbers = [p for p in places if p is not None], [number(p) for p in rest]
    if len(far) != 1 or len(own) != 1 or own[0][0] != axis or any(isinstance(p, k.Op) for p in rest):
        return None
    others = [n for n, p in zip(numbers, places, strict=True) if p is None]
    return None if None in others else own[0][1] + sum(n for n in others if n is not None)


__all__ = ["without_launch"]
