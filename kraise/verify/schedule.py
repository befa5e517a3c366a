"""Threads, blocks and barriers: every thread runs until it waits; barriers and warp exchanges let it go on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator, Sequence
from random import Random
from typing import Any

import numpy as np

from kraise.verify.atomics import exchange
from kraise.verify.errors import BarrierError, InterpreterError
from kraise.verify.memory import Array, new_array
from kraise.verify.races import RaceLog

WARP = 32
Triple = tuple[int, int, int]


class Block:
    """One block's shared memory; ``shared_size``: the numbers in a dynamic shared array."""

    def __init__(self, directions: int, log: RaceLog | None, shared_size: int, from_end: bool = False):
        self.directions, self.log, self.shared_size = directions, log, shared_size
        self.from_end = from_end  # subscripts below zero of arrays made here
        self.shared: dict[Any, Array] = {}

    def make(
        self,
        name: str,
        shape: tuple[Any, ...],
        dtype: np.dtype | None,
        fill: Any,
        values: tuple[Any, ...],
        like: Array | None,
        shared: Any,
        dynamic: bool,
    ) -> Array:
        """The array of a declaration: a new one, or (``shared`` is its key) the block's."""
        if shared is not None and shared in self.shared:
            return self.shared[shared]
        if dynamic:
            shape = (self.shared_size // math.prod(shape), *shape)
        if dtype is None:
            dtype = like.storage.flat.dtype if like is not None else np.dtype(float)
        log = self.log if shared is not None else None
        array = new_array(name, shape, dtype, fill, values, self.directions, log)
        array.storage.from_end = self.from_end
        if shared is not None:
            self.shared[shared] = array
        return array


class Thread:
    """A thread that can wait: its generator, its numbers and what it waits for (None: it may run)."""

    __slots__ = ("answer", "body", "done", "lane", "number", "waits", "warp")

    def __init__(self, body: Generator[tuple, Any, Any], number: int, within: int):
        self.body, self.number = body, number
        self.warp, self.lane = divmod(within, WARP)
        self.waits: tuple | None = None
        self.answer: Any = None
        self.done = False

    def advance(self) -> None:
        """Run to the next wait, or to the end."""
        try:
            self.waits = self.body.send(self.answer)
        except StopIteration:
            self.done, self.waits = True, None
        self.answer = None


class Running:
    """The threads of one block and its phases."""

    def __init__(self, number: int, threads: list[Thread], log: RaceLog, operation: Callable[[str], Any]):
        self.number, self.threads, self.log, self.operation = number, threads, log, operation
        self.phase = 0
        self.warp_phases: dict[int, int] = {}

    def run(self, grid_phase: int) -> bool:
        """Run until every thread is done (True) or waits for the grid (False)."""
        while True:
            for thread in self.threads:
                if not thread.done and thread.waits is None:
                    self.log.enter(
                        thread.number,
                        thread.warp,
                        self.warp_phases.get(thread.warp, 0),
                        (grid_phase, self.number, self.phase),
                    )
                    thread.advance()
            live = [t for t in self.threads if not t.done]
            if not live:
                return True
            if self.exchange_in_warps(live):
                continue
            scopes = {t.waits[2] for t in live if t.waits is not None}
            sites = {t.waits[1] for t in live if t.waits is not None}
            if len(sites) > 1:
                raise BarrierError("the threads of a block wait at different barriers")
            if scopes == {"grid"}:
                return False
            self.phase += 1
            for t in live:
                t.waits = None

    def exchange_in_warps(self, live: list[Thread]) -> bool:
        """Let the lanes go on that wait for their warp; False if none does."""
        groups: dict[tuple[int, Any], list[Thread]] = {}
        for t in live:
            if t.waits is not None and (t.waits[0] == "warp" or t.waits[2] == "warp"):
                groups.setdefault((t.warp, t.waits[1]), []).append(t)
        for (warp, _), threads in groups.items():
            first = threads[0].waits
            assert first is not None
            answers: dict[int, Any] = {}
            if first[0] == "warp":
                lanes = {t.lane: t.waits[3] for t in threads if t.waits is not None}
                answers = exchange(first[2], lanes, first[4], self.operation)
            else:
                self.warp_phases[warp] = self.warp_phases.get(warp, 0) + 1
            for t in threads:
                t.waits, t.answer = None, answers.get(t.lane)
        return bool(groups)


def run_grid(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    *,
    grid: Triple,
    block: Triple,
    suspends: bool,
    waits_for_grid: bool,
    new_block: Callable[[], Block],
    log: RaceLog,
    operation: Callable[[str], Any],
    order: int | None = None,
) -> None:
    """Run ``function`` for every thread of the launch; ``order`` seeds a permutation of them all (-1: backwards)."""
    shuffle = _shuffler(order)
    places = list(_indices(grid))
    within = list(enumerate(_indices(block)))
    size = len(within)
    numbered = list(enumerate(places))
    shuffle(numbered)
    waiting: list[Running] = []
    for number, place in numbered:
        memory = new_block()
        chosen = list(within)
        shuffle(chosen)
        if not suspends:
            for n, t in chosen:
                log.enter(number * size + n, n // WARP, 0, (0, number, 0))
                function(memory, (*t, *place, *block, *grid), *arguments)
            continue
        threads = [
            Thread(function(memory, (*t, *place, *block, *grid), *arguments), number * size + n, n) for n, t in chosen
        ]
        running = Running(number, threads, log, operation)
        if waits_for_grid:
            waiting.append(running)
        elif not running.run(0):
            raise InterpreterError("a barrier of the grid is reached in a launch that does not expect one")
    phase = 0
    while waiting:
        over = [running.run(phase) for running in waiting]
        if all(over):
            return
        if any(over):
            raise BarrierError("some blocks end while others wait at a barrier of the grid")
        phase += 1
        for running in waiting:
            for thread in running.threads:
                thread.waits = None


def _shuffler(order: int | None) -> Callable[[list], None]:
    if order is None:
        return lambda items: None
    return list.reverse if order == -1 else Random(order).shuffle


def thread_name(number: int, grid: Triple, block: Triple) -> str:
    """A thread of the launch in words, by its block and its place in it."""
    size = block[0] * block[1] * block[2]
    b, t = divmod(number, size)
    return f"thread {_words(t, block)} of block {_words(b, grid)}"


def _words(n: int, extents: Triple) -> str:
    x, rest = n % extents[0], n // extents[0]
    y, z = rest % extents[1], rest // extents[1]
    return str(x) if extents[1:] == (1, 1) else str((x, y)) if extents[2] == 1 else str((x, y, z))


def _indices(extents: Triple) -> list[Triple]:
    x, y, z = extents
    return [(i, j, k) for k, j, i in itertools.product(range(z), range(y), range(x))]
