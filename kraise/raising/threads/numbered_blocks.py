"""Blocks whose threads are numbered through by literals.

``(blockIdx.z * blockDim.z + threadIdx.z) * 8 + threadIdx.y * 4 + threadIdx.x`` is of blocks of 4 by 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.raising.threads.spelled import addends, bare, number, thread_axis


def numbered(nodes: Iterable[object], names: dict[str, int]) -> dict[int, int]:
    """How many threads a block has along an axis, as far as a number of a thread tells: from each of its digits to the
    next. ``names`` are the locals that are an index of a thread."""
    for e in nodes:
        parts = addends(e) if isinstance(e, k.Op) and e.name == "add" and e.type.is_integer else []
        found = sorted(((_times(a), _axis(a, names)) for a in parts if number(a) is None), key=lambda part: part[0])
        axes = [axis for _, axis in found[:-1]]
        sizes = [(more // c, more % c) for (c, _), (more, _) in pairwise(found)]
        apart = len(axes) > 1 and None not in axes and len({*axes}) == len(axes) and found[0][0] == 1
        if apart and all(size > 1 and not rest for size, rest in sizes):
            return {axis: size for axis, (size, _) in zip(axes, sizes, strict=True) if axis is not None}
    return {}


def capped(kernel: eq.Kernel) -> bool:
    """Whether the function takes a size only up to a number: rows of so many were taken to be apart."""
    return any(
        isinstance(c, eq.Op) and c.name == "le" and isinstance(c.args[0], eq.Param) and isinstance(c.args[1], eq.Const)
        for c, _ in kernel.checks
    )


def _times(e: k.Expr) -> int:
    e = bare(e)
    if isinstance(e, k.Op) and e.name == "mul":
        return next((n for a in e.args if (n := number(a)) is not None and n > 0), 1)
    return 1


def _axis(e: k.Expr, names: dict[str, int]) -> int | None:
    e = bare(e)
    if isinstance(e, k.Op) and e.name == "mul":
        e = next((a for a in e.args if number(a) is None), e)
    return thread_axis(bare(e), names)


__all__ = ["capped", "numbered"]
