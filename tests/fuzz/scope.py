"""What a generated program knows while it is written: indices with their ranges, arrays with their axes, locals."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Index:
    """An integer variable with ``low <= value < size(dim) - slack``."""

    name: str
    dim: str
    low: int = 0
    slack: int = 0


@dataclass
class Array:
    """An array parameter: its axes by dimension name; ``kind`` f, i or b; ``role`` in, out, index, hist or ptr.

    The elements of an index are subscripts of the dimension ``into``; a hist is only added to; the elements of a ptr
    do not decrease, and two neighbours bound a range of the dimension ``within``.
    """

    name: str
    dims: tuple[str, ...]
    kind: str = "f"
    role: str = "in"
    into: str = ""
    within: str = ""
    extra: int = 0  # elements more than the dimension on axis 0
    own: tuple[str, ...] = ()  # an output's leading subscripts: each thread its own
    flat: bool = False  # one axis in memory: a[i * m + j]
    after: str = ""  # elements are not below those of this array (``count``: and given as how far above)
    count: bool = False
    writable: bool = False  # may the code that is being written store into it?


@dataclass
class Scope:
    """The names that a statement may use."""

    indices: list[Index] = field(default_factory=list)
    floats: list[str] = field(default_factory=list)
    ints: list[str] = field(default_factory=list)
    bools: list[str] = field(default_factory=list)
    frozen: set[str] = field(default_factory=set)  # locals that must not be assigned here (loop counters)
    loop: bool = False  # is a break or continue allowed?
    depth: int = 0

    def inner(self, *indices: Index, loop: bool | None = None) -> Scope:
        """A block within this scope: what is defined in it stays in it."""
        return Scope(
            [*self.indices, *indices],
            list(self.floats),
            list(self.ints),
            list(self.bools),
            set(self.frozen),
            self.loop if loop is None else loop,
            self.depth + 1,
        )
