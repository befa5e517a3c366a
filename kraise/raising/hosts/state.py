"""What is known at a place of a host function: where names point, and which variables hold the values of memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from kraise.ir import kernel as k


@dataclass(frozen=True)
class View:
    """Where a name points: a slot, and from which element on (None: its first). ``count``: how many elements from there
    a launch is given (None: all)."""

    slot: int
    offset: k.Expr | None = None
    in_rows: bool = False  # of an argument: the callee sees it as rows
    count: k.Expr | None = None

    @property
    def is_whole(self) -> bool:
        """Is it all of the memory, as it lies there?"""
        return self.offset is None and self.count is None and not self.in_rows


@dataclass(frozen=True)
class Memory:
    """The slot of a parameter's memory: the one at place ``rounds % len(slots)``."""

    slots: tuple[int, ...]
    rounds: k.Expr | None = None


@dataclass
class State:
    """Where names point, and the variable that holds the value of each slot (None: undefined)."""

    points: dict[str, View] = field(default_factory=dict)
    values: dict[int, str | None] = field(default_factory=dict)
    memory: dict[str, Memory | None] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    scalars: set[str] = field(default_factory=set)
    known: dict[str, k.Const] = field(default_factory=dict)  # scalars that hold a constant

    def set_scalars(self, names: Iterable[str]) -> None:
        """The names hold values that are not known here."""
        for name in names:
            self.scalars.add(name)
            self.known.pop(name, None)

    def copy(self) -> State:
        """A state of its own."""
        return State(
            dict(self.points), dict(self.values), dict(self.memory), set(self.written), set(self.scalars),
            dict(self.known),
        )  # fmt: skip


def given_member(e: Any, state: State) -> Any:
    """A member of a struct, 0 where nothing was given to it: C hands it over all the same."""
    inner = e.arg if isinstance(e, k.Cast) else e
    unset = isinstance(inner, k.Var) and inner.name not in state.scalars
    return k.Const(0, e.type) if unset else e
