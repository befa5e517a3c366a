"""The race detector: who touched each element since the last barrier that orders the two."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kraise.diagnostics import Span
from kraise.verify.errors import Race

KEPT = "="
Key = tuple[int, int, int]  # grid barriers passed, block, block barriers passed


class Cell:
    """One element: the threads that read and wrote it in the newest phase, and one of another block each.

    A thread's stamp is (warp, warp barriers passed, kind, value): kind is "" for plain accesses, KEPT for a plain store
    of what the element holds already, else the atomic.
    """

    __slots__ = ("readers", "reads", "reads_other", "writers", "writes", "writes_other")

    def __init__(self) -> None:
        self.reads: Key | None = None
        self.readers: dict[int, tuple] = {}
        self.reads_other: tuple[Key, dict[int, tuple]] | None = None
        self.writes: Key | None = None
        self.writers: dict[int, tuple] = {}
        self.writes_other: tuple[Key, dict[int, tuple]] | None = None


class RaceLog:
    """The running thread's place in time, and the races found (the first ``keep`` of them, and how many)."""

    def __init__(self, keep: int = 20):
        self.keep = keep
        self.races: list[Race] = []
        self.count = 0
        self.thread = 0
        self.warp = 0
        self.warp_phase = 0
        self.key: Key = (0, 0, 0)
        self.names: dict[int, str] = {}
        self.locate: Any = None  # () -> Span | None

    def enter(self, thread: int, warp: int, warp_phase: int, key: Key) -> None:
        """Thread number ``thread`` of the grid runs from here."""
        self.thread, self.warp, self.warp_phase, self.key = thread, warp, warp_phase, key

    def read(self, cells: dict[int, Cell], k: int, array: Any) -> None:
        """The running thread reads element ``k``."""
        cell = cells.get(k)
        if cell is None:
            cell = cells[k] = Cell()
        if cell.writes is not None:
            self._check(cell.writes, cell.writers, cell.writes_other, "", _DIFFERENT, array, k, "read after write")
        if cell.reads != self.key:
            if cell.reads is not None and cell.reads[1] != self.key[1]:
                cell.reads_other = (cell.reads, cell.readers)
            cell.reads, cell.readers = self.key, {}
        cell.readers[self.thread] = (self.warp, self.warp_phase, "", None)

    def write(self, cells: dict[int, Cell], k: int, array: Any, kind: str, value: Any) -> None:
        """The running thread writes ``value`` to element ``k``, by the atomic ``kind`` or plainly."""
        kind = "add" if kind == "sub" else kind  # sums of either, in any order
        cell = cells.get(k)
        if cell is None:
            cell = cells[k] = Cell()
        if cell.writes is not None:
            self._check(cell.writes, cell.writers, cell.writes_other, kind, value, array, k, "write after write")
        if cell.reads is not None and kind != KEPT:
            self._check(cell.reads, cell.readers, cell.reads_other, "", _DIFFERENT, array, k, "write after read")
        if cell.writes != self.key:
            if cell.writes is not None and cell.writes[1] != self.key[1]:
                cell.writes_other = (cell.writes, cell.writers)
            cell.writes, cell.writers = self.key, {}
        before = cell.writers.get(self.thread)
        kind = "" if kind == KEPT and before is not None and before[2] != KEPT else kind  # it has changed it before
        cell.writers[self.thread] = (self.warp, self.warp_phase, kind, value)

    def _check(
        self,
        key: Key,
        threads: dict[int, tuple],
        other: tuple[Key, dict[int, tuple]] | None,
        kind: str,
        value: Any,
        array: Any,
        k: int,
        what: str,
    ) -> None:
        groups: list[tuple[Key, Iterable[tuple[int, tuple]]]] = [(key, threads.items())]
        if other is not None:
            groups.append((other[0], other[1].items()))
        for then, stamps in groups:
            if then[0] != self.key[0] or (then[1] == self.key[1] and then[2] != self.key[2]):
                continue  # a barrier lies between
            same_block = then[1] == self.key[1]
            for thread, (warp, phase, by, old) in stamps:
                if thread == self.thread or (same_block and warp == self.warp and phase != self.warp_phase):
                    continue
                if by == KEPT and value is _DIFFERENT:
                    continue  # a load of what was there before the store, too
                plain = by in ("", KEPT) and kind in ("", KEPT)
                if (plain and same(old, value)) or (by == kind and not plain):
                    continue  # atomics of one kind, or two stores of one value
                self._report(array, k, thread, what)
                return

    def _report(self, array: Any, k: int, first: int, what: str) -> None:
        self.count += 1
        if len(self.races) < self.keep:
            span: Span | None = self.locate() if self.locate else None
            race = Race(array.name, array.unflatten(k), self.describe(first), self.describe(self.thread), what, span)
            self.races.append(race)

    def describe(self, thread: int) -> str:
        """A thread in words."""
        return self.names.get(thread, f"thread {thread}")


_DIFFERENT = object()


def same(a: Any, b: Any) -> bool:
    """Are two values one? NaN is NaN."""
    return a is b or bool(a == b) or (a != a and b != b)
