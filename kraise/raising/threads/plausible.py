"""Whether blocks of a size that was only suggested make sense of the source."""

from __future__ import annotations

from collections.abc import Collection

from kraise.analysis.dependence import impossible
from kraise.ir import kernel as k
from kraise.raising.collective.opened import walked
from kraise.raising.run.context import Context
from kraise.raising.run.state import State
from kraise.raising.threads.indices import Ways
from kraise.raising.threads.sizes import beyond


def idle(cx: Context, st: State, body: tuple[k.Stmt, ...], ways: Ways, told: Collection[int]) -> bool:
    """Whether the source speaks of threads that such blocks do not have, or places the blocks further apart, or none of
    theirs meets a store's guard. Axes ``told`` are those of which a launch says how many threads they have."""
    if all(abs(n) == 1 for n in ways.values()):
        return False
    if any(n % abs(ways[axis]) for axis, n in _placed(body) if axis in ways and 0 < abs(ways[axis]) < n):
        return True
    if beyond(body, {axis: -abs(n) for axis, n in ways.items()}, told):
        return True
    return any(a.write and a.array not in cx.made and impossible((*a.path, *cx.facts)) for a in st.accesses)


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
