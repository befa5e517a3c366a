"""What a joint computation asks for: another way to bind the indices (the run starts again)."""

from __future__ import annotations

from dataclasses import dataclass

from kraise.diagnostics import Span


@dataclass(frozen=True)
class Joint:
    """The statements of a joint computation: where the first stands, how many; ``whole``: they sum over whole warps."""

    start: Span | None
    count: int
    whole: bool


class Lanes(Exception):
    """The kernel computes by warps: run again with the lane as an index."""


class Apart(Exception):
    """The block's threads hold running values: run again with the block and the thread as two indices."""


class Tied(Exception):
    """What a block computes is clear where this parameter is so many times the number of its threads."""

    def __init__(self, name: str, times: int):
        super().__init__(f"{name} is {times} * block")
        self.name, self.times = name, times


class Sized(Exception):
    """What a block computes is clear for blocks of this many threads only."""

    def __init__(self, size: int):
        super().__init__(str(size))
        self.size = size
