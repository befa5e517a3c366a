"""What the launches in a file say of a kernel."""

from __future__ import annotations

from collections.abc import Sequence

from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked


def launches_of(hosts: object, name: str) -> Sequence[h.Launch]:
    """The launches of the kernel ``name`` in Host IR."""
    if not isinstance(hosts, tuple):
        return _by_kernel(hosts).get(name, ())
    if not _kept or _kept[0][0] is not hosts:
        _kept[:] = [(hosts, _by_kernel(hosts))]
    return _kept[0][1].get(name, ())


_kept: list[tuple[object, dict[str, list[h.Launch]]]] = []  # of the file at hand: each of its kernels asks


def _by_kernel(hosts: object) -> dict[str, list[h.Launch]]:
    found: dict[str, list[h.Launch]] = {}
    for x in walked(hosts):
        if isinstance(x, h.Launch):
            found.setdefault(x.function, []).append(x)
    return found


def one_block(hosts: object, name: str) -> frozenset[int]:
    """The axes along which every launch of the kernel has one block; none where nothing launches it."""
    grids = [x.grid for x in launches_of(hosts, name)]
    return frozenset(axis for axis in range(3) if grids and all(_one(grid, axis) for grid in grids))


def _one(grid: tuple[k.Expr, ...] | None, axis: int) -> bool:
    if not grid:
        return False
    return axis >= len(grid) or (isinstance(e := grid[axis], k.Const) and type(e.value) is int and e.value == 1)


__all__ = ["launches_of", "one_block"]
