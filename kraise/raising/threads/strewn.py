"""Threads with several elements each, a block's threads apart: ``y[at] = ...; y[at + 16] = ...`` is of blocks of 16.

Only a guess of what to try (see sizes.py): where ``at`` counts threads one by one, the next thread's element is none of
them only if a block has no more threads than the distance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kraise.ir import kernel as k
from kraise.raising.threads.spelled import addends, number, once, thread_axis


def strewn(nodes: Iterable[object], shared: Iterable[str], names: dict[str, int]) -> Iterator[tuple[int, int]]:
    """Axes and sizes of blocks whose threads store to such elements of the caller's arrays."""
    nodes = list(nodes)
    own, values = frozenset(shared), once(nodes)
    places: dict[tuple[str, tuple[k.Expr, ...]], dict[int, None]] = {}
    for s in nodes:
        if isinstance(s, k.Store | k.Atomic) and s.array not in own and len(s.subscripts) == 1:
            parts = addends(s.subscripts[0])
            numbers = [n for a in parts if (n := number(a)) is not None]
            rest = tuple(a for a in parts if number(a) is None)
            places.setdefault((s.array, rest), {})[sum(numbers)] = None
    for (_, rest), offsets in places.items():
        by = sorted(offsets)
        gap = by[1] - by[0] if len(by) > 1 else 0
        if gap > 1 and by == [*range(by[0], by[-1] + 1, gap)]:
            axes = {axis for a in rest for axis in _counted(a, names, values)}
            if len(axes) == 1:
                yield axes.pop(), gap


def _counted(e: k.Expr, names: dict[str, int], values: dict[str, k.Expr]) -> Iterator[int]:
    """The axes whose thread index is an addend of ``e``, looking through locals that are assigned once."""
    for a in addends(e):
        axis = thread_axis(a, names)
        if axis is not None:
            yield axis
        elif isinstance(a, k.Var) and a.name in values:
            yield from _counted(values[a.name], names, {n: v for n, v in values.items() if n != a.name})


__all__ = ["strewn"]
