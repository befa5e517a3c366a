"""Parts of a warp that work on their own: eight lanes a row, ``row = t / 8``, and exchanges among the eight alone.

What the lanes of a whole warp do together says nothing then. With the lane among the eight as an index the row is one.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.raising.loops.unrolled import maybe


def parts(body: Iterable[k.Stmt]) -> list[int]:
    """The numbers of lanes to try, the likeliest first: those by which the source divides, or how wide its exchanges
    are."""
    found: dict[int, int] = {}
    exchanged = False
    for e in walked(tuple(body)):
        lanes: int | None = None
        match e:
            case k.Warp(width=width):
                exchanged, lanes = True, width
            case k.Barrier(scope="warp"):  # in shared memory
                exchanged = True
            case k.Op(name="floordiv" | "tdiv" | "mod" | "tmod", args=(_, by)):
                lanes = maybe(by, {})
            case k.Op(name="shr", args=(_, by)) if (bits := maybe(by, {})) is not None and 0 < bits < 5:
                lanes = 1 << bits
            case k.Op(name="and_", args=(_, mask)) if (most := maybe(mask, {})) is not None:
                lanes = most + 1
        if lanes in (2, 4, 8, 16):
            found[lanes] = found.get(lanes, 0) + 1
    return sorted(found, key=lambda n: (-found[n], n)) if exchanged else []


def stepping(body: Iterable[k.Stmt]) -> list[int]:
    """The numbers of lanes that go through something together without exchanging: the source divides by them, and
    steps by them."""
    divisors, steps = set[int](), set[int]()
    for e in walked(tuple(body)):
        match e:
            case k.Op(name="floordiv" | "tdiv" | "mod" | "tmod", args=(_, by)):
                divisors.add(maybe(by, {}) or 0)
            case k.Op(name="shr", args=(_, by)):
                divisors.add(1 << min(maybe(by, {}) or 0, 6))
            case k.Op(name="and_", args=(_, mask)):
                divisors.add((maybe(mask, {}) or 0) + 1)
            case k.For(step=step):
                steps.add(maybe(step, {}) or 0)
            case k.Assign(name=name, value=k.Op(name="add", args=(k.Var(name=own), by))) if name == own:
                steps.add(maybe(by, {}) or 0)
    return sorted(divisors & steps & {2, 4, 8, 16, 32}, reverse=True)


def width(body: Iterable[k.Stmt]) -> int:
    """The number of lanes that exchange, if it is one for all exchanges: an index over these says most."""
    widths = {e.width for e in walked(tuple(body)) if isinstance(e, k.Warp)}
    return widths.pop() if len(widths) == 1 else 32


__all__ = ["parts", "stepping", "width"]
