"""What the launches in the file say of a block's threads, and what that makes of suggested sizes."""

from __future__ import annotations

from kraise.ir import kernel as k
from kraise.ir.launches import launches_of
from kraise.raising.threads.indices import Ways
from kraise.raising.threads.sizes import MOST
from kraise.raising.threads.spelled import number


def launched(module: k.Module, function: k.Function) -> dict[int, int]:
    """How many threads a block has along each axis where all launches of the kernel in the file give one number."""
    blocks = [x.block for x in launches_of(module.hosts, function.name) if x.block]
    found: dict[int, int] = {}
    for axis in range(3 if blocks else 0):
        sizes = {number(block[axis]) if axis < len(block) else 1 for block in blocks}
        if len(sizes) == 1 and (n := sizes.pop()) is not None:
            found[axis] = n
    return found


def hinted(module: k.Module, function: k.Function) -> dict[int, int]:
    """The same of all launches that stand in the file, also in functions that are not raised."""
    blocks = {block for name, block in module.blocks if name == function.name}
    if len(blocks) != 1:
        return {}
    return {axis: n for axis, n in enumerate(blocks.pop()) if n is not None}


def contradicts(ways: Ways, told: dict[int, int]) -> bool:
    """Whether a block would have another number of threads than the launches give it."""
    return any(n < -1 and told.get(axis, -n) != -n for axis, n in ways.items())  # -1: block and thread apart


def agrees(ways: Ways, told: dict[int, int]) -> bool:
    """Whether a block has as many threads as the launches give it."""
    given = {axis: n for axis, n in told.items() if n > 1}
    return bool(given) and all(abs(ways.get(axis, 1)) == n for axis, n in given.items())


def as_launched(found: list[Ways], told: dict[int, int], hint: dict[int, int]) -> list[Ways]:
    """The sizes to try: those that the launches give first, and none that they contradict; then those of a ``hint``."""
    own = {axis: -n for axis, n in told.items() if n > 1}
    other = {axis: -n for axis, n in hint.items() if n > 1 and axis not in own}
    first = [f for f in (own, own | other if other else {}) if f]
    agreeing = [f for f in found if f not in first and not contradicts(f, told)]
    return [*first, *agreeing][:MOST] if first else agreeing
