"""Shared arrays in the simulation: what each cell holds, and whether threads meet in one with no barrier between."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kraise.ir.types import ScalarType
from kraise.raising.collective.marks import Beyond, Combined, Outside, marks

WARP = 32
NOBODY = 1 << 40


class Cells:
    """One shared array: marks by cell, and who has touched each cell since the last barrier. Cells of several axes are
    counted row by row; what is said of an array as a whole is said of its first row."""

    def __init__(self, family: int, filled: np.ndarray, type: ScalarType):
        count = filled.size
        self.family, self.type, self.filled, self.shape = family, type, filled.ravel(), filled.shape
        self.op = ""
        self.part = False  # beyond the last cell is another array
        self.marks = marks(family, count).copy()
        self.touched = np.zeros(count, dtype=bool)  # ever read or written in the run
        self.written = np.zeros(count, dtype=bool)
        self.clear()

    @property
    def count(self) -> int:
        return self.marks.shape[1]

    @property
    def row(self) -> int:
        """The cells of the first row."""
        return self.shape[-1]

    def place(self, at: list[np.ndarray]) -> np.ndarray:
        """The cell at subscripts, one for each axis."""
        if len(at) != len(self.shape):
            raise Beyond("a subscript of another number of axes")
        out = np.zeros_like(at[0])
        for a, extent in zip(at, self.shape, strict=True):
            self._check(a, extent)
            out = out * extent + a
        return out

    def clear(self) -> None:
        """A barrier of the block was passed."""
        n = self.count
        self.writer = np.full(n, -1)
        self.writer_phase = np.zeros(n, dtype=np.int64)
        self.mixed = np.zeros(n, dtype=bool)  # several threads wrote it, one after the other
        self.readers = np.stack([np.full(n, NOBODY), np.full(n, -1)])  # the least and the greatest thread that read it
        self.reader_phase = np.zeros(n, dtype=np.int64)
        self.by_atomic = np.zeros(n, dtype=bool)

    def copy(self) -> Cells:
        new = object.__new__(Cells)
        new.__dict__ |= {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in self.__dict__.items()}
        return new

    def _check(self, at: np.ndarray, extent: int) -> None:
        if at.size and (at.min() < 0 or at.max() >= extent):
            if self.part:
                raise Beyond("a subscript leaves its part of a shared array")
            raise Outside("a subscript leaves a shared array")

    def read(self, at: np.ndarray, threads: np.ndarray, phases: np.ndarray) -> Combined:
        """The cells ``at`` as ``threads`` read them; ``phases`` are the barriers of their warps passed so far."""
        if not self.filled[at].all():
            raise Outside("a cell is read that nothing has been stored to")
        w = self.writer[at]
        ordered = (w // WARP == threads // WARP) & (self.writer_phase[at] < phases)
        if np.any((w >= 0) & (w != threads) & ~ordered):
            raise Beyond("a race: a thread reads what another one writes")
        np.minimum.at(self.readers[0], at, threads)
        np.maximum.at(self.readers[1], at, threads)
        np.maximum.at(self.reader_phase, at, phases)
        self.touched[at] = True
        return Combined(self.op, self.marks[:, at], self.type)

    def write(self, at: np.ndarray, new: np.ndarray, op: str, threads: np.ndarray, phases: np.ndarray) -> None:
        _, first, of = np.unique(at, return_index=True, return_inverse=True)
        shared = len(first) != len(at)
        if shared and not np.array_equal(new, new[:, first][:, of]):
            raise Beyond("a race: two threads write one cell")
        self._own(at, threads, phases)
        if op and self.op not in ("", op):
            raise Beyond("two operators in one array")
        self.op = self.op or op
        self.marks[:, at] = new
        self.mixed[at] |= (self.writer[at] >= 0) & (self.writer[at] != threads) | shared
        self.writer[at] = NOBODY if shared else threads  # several threads with one value: any other access now races
        self.writer_phase[at] = phases
        self.touched[at] = self.written[at] = self.filled[at] = True

    def _own(self, at: np.ndarray, threads: np.ndarray, phases: np.ndarray) -> None:
        w, low, high = self.writer[at], self.readers[0][at], self.readers[1][at]
        mine = threads // WARP
        by_warp = (w // WARP == mine) & (self.writer_phase[at] < phases)
        read_by_warp = (low // WARP == mine) & (high // WARP == mine) & (self.reader_phase[at] < phases)
        alone = (low == threads) & (high == threads)
        if np.any((w >= 0) & (w != threads) & ~by_warp) or np.any((high >= 0) & ~alone & ~read_by_warp):
            raise Beyond("a race: a thread writes what another one uses")

    def combine(self, op: str, at: np.ndarray, amount: np.ndarray, threads: np.ndarray) -> None:
        """An atomic; only atomics may touch its cells until the next barrier."""
        if op and self.op not in ("", op):
            raise Beyond("two operators in one array")
        self.op = self.op or op
        plain = (self.writer[at] >= 0) | (self.readers[1][at] >= 0)
        if np.any(plain & ~self.by_atomic[at]):
            raise Beyond("a race: an atomic meets a plain access")
        for half in (0, 1):
            np.add.at(self.marks[half], at, amount[half])
        self.by_atomic[at] = True
        self.writer[at] = NOBODY  # no thread: a plain access now races
        self.touched[at] = self.written[at] = self.filled[at] = True


@dataclass(frozen=True)
class Touch:
    """What the threads did to an array between two barriers: which of reads and writes, and whether each thread kept to
    the cell of its own number in each row."""

    reads: bool
    writes: bool
    own_reads: bool
    own_writes: bool


def touch(memory: Cells) -> Touch:
    """What happened since the last barrier."""
    written, read = memory.writer >= 0, memory.readers[1] >= 0
    cell = np.arange(memory.count) % memory.row
    own_writes = not np.any(written & ((memory.writer != cell) | memory.mixed))
    own_reads = not np.any(read & ((memory.readers[0] != cell) | (memory.readers[1] != cell)))
    return Touch(bool(read.any()), bool(written.any()), own_reads, own_writes)
