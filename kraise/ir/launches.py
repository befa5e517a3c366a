"""What the launches in a file say of a kernel."""

from __future__ import annotations

from collections.abc import Iterator

from kraise.ir import host as h
from kraise.ir import kernel as k


def launches_of(hosts: object, name: str) -> Iterator[h.Launch]:
    """The launches of the kernel ``name`` in Host IR."""
    stack: list[object] = [hosts]
    while stack:
        x = stack.pop()
        if isinstance(x, tuple | list):
            stack.extend(x)
        elif hasattr(x, "__dataclass_fields__"):
            if isinstance(x, h.Launch) and x.function == name:
                yield x
            stack.extend(getattr(x, f) for f in x.__dataclass_fields__ if f not in ("span", "type"))


def one_block(hosts: object, name: str) -> frozenset[int]:
    """The axes along which every launch of the kernel has one block; none where nothing launches it."""
    grids = [x.grid for x in launches_of(hosts, name)]
    return frozenset(axis for axis in range(3) if grids and all(_one(grid, axis) for grid in grids))


def _one(grid: tuple[k.Expr, ...] | None, axis: int) -> bool:
    if not grid:
        return False
    return axis >= len(grid) or (isinstance(e := grid[axis], k.Const) and type(e.value) is int and e.value == 1)


__all__ = ["launches_of", "one_block"]
