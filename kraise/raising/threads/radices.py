"""A block's threads as the digits of a number: ``threadIdx.x / 16`` and ``threadIdx.x % 16`` of 256 threads.

The block's size is known and the divisors are numbers that divide it, each the next one: the thread's index is then
that of a box (``16 * q + r`` with 0 <= r < 16), and the digits are the indices that the equations are about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import topological
from kraise.raising.run.context import Context

Radices = Mapping[int, tuple[int, ...]]  # by axis, the largest first


def divisors(cx: Context, values: Iterable[eq.Expr]) -> Radices:
    """By axis, what ``values`` divide a thread's index by, where its digits make up the block; none where the divisors
    are no chain."""
    found: dict[int, set[int]] = {}
    own = {e: axis for (kind, axis), e in cx.threads.items() if kind == "thread" and isinstance(e, eq.Index)}
    for n in topological(values):
        match n:
            case eq.Op(name="floordiv" | "mod", args=(eq.Index() as t, eq.Const(value=int() as by))) if (
                t in own and by > 1
            ):
                found.setdefault(own[t], set()).add(by)
    out: dict[int, tuple[int, ...]] = {}
    for axis, sizes in found.items():
        block = cx.threads.get(("blockDim", axis))
        if not isinstance(block, eq.Const) or not isinstance(block.value, int):
            continue
        chain = sorted((n for n in sizes if n < block.value), reverse=True)
        if chain and all(a % b == 0 for a, b in pairwise((block.value, *chain))):
            out[axis] = tuple(chain)
    return out


def as_splits(cx: Context, indices: tuple[str, ...], radices: Radices) -> list[tuple[str, eq.Expr]]:
    """The splits of the threads' indices by these divisors."""
    out: list[tuple[str, eq.Expr]] = []
    for axis, sizes in radices.items():
        index = cx.threads.get(("thread", axis))
        if not isinstance(index, eq.Index) or index.name not in indices:
            continue
        name = index.name
        for size in sizes:
            out.append((name, eq.Const(size, INT)))
            name = f"{name}_low"
    return out


__all__ = ["Radices", "as_splits", "divisors"]
