"""What each thread and each cell holds after a simulation, as sums and running sums of what there was before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from kraise.raising.collective.marks import Combined, Literals, marks
from kraise.raising.collective.picks import Pick
from kraise.raising.collective.simulate import Simulation

_WORD = (1 << 64) - 1
GROUPS = (0, 32, 16, 8, 4, 2)  # 0: the block


@dataclass(frozen=True)
class Total:
    """``op`` over all data of ``family`` of a group of threads (0: the block), held by all of it or by its first
    thread.

    ``cells`` of a family of cells are summed (0: as many as there are threads); ``literal`` is combined with it, but in
    a block of ``full`` threads (which has data in place of each literal).
    """

    op: str
    family: str
    group: int
    first: bool
    cells: str = ""
    literal: float | None = None
    full: int = 0


@dataclass(frozen=True)
class Running:
    """``op`` over the data of ``family`` from the first of the group up to the thread (or cell) itself, from the last
    if ``reverse``, without its own if not ``inclusive``."""

    op: str
    family: str
    group: int
    inclusive: bool
    reverse: bool
    cells: str = ""


@dataclass(frozen=True)
class Chosen:
    """The datum of ``family`` where that of ``key`` is the extremum (``op``) of a group of threads (0: the block), as
    :class:`Total` holds it. ``tie`` says which of several: the "first", the "last", the one with the "min" or the
    "max" of ``family``, the first in ``order``, or ("halves") the first as a tree by halves prefers its leaves."""

    op: str
    family: str
    key: str
    group: int
    first: bool
    tie: str
    cells: str = ""
    order: tuple[int, ...] = ()


@dataclass(frozen=True)
class Copy:
    """The datum of ``family`` with the same number."""

    family: str
    cells: str = ""


@dataclass(frozen=True)
class Cell:
    """Cell ``at`` holds ``value``; what the others hold is not said."""

    at: int
    value: Total | Chosen


@dataclass(frozen=True)
class Heads:
    """The first cell of each group of threads holds ``value``; what the others hold is not said."""

    value: Total


Found = Total | Running | Chosen | Copy | Cell | Heads
JOINT = (Total, Running, Chosen, Cell, Heads)  # those that threads compute together
COUNTS = {"block": 1, "twice": 2}  # how many cells: so many for each thread


def counts(size: int, available: int) -> dict[str, int]:
    """The numbers of cells that may be summed, by name: as many as threads, twice as many, or all there are."""
    out = {name: c * size for name, c in COUNTS.items() if c * size <= available}
    return out if available in out.values() else {**out, "all": available}


def of_thread(sim: Simulation, v: Combined, on: np.ndarray | None = None) -> list[Found]:
    """What the threads (those that are ``on``) hold in ``v``, best first."""
    found: list[Found] = []
    op = v.op
    if not op and sim.interned:
        found += chosen(sim, v, on)
    held = sim.literals.without_neutral(op, v.marks) if op else v.marks
    for family, count in _families(sim):
        name, available = family, count
        for cells, n in [("", sim.size)] if not family.startswith("[") else list(counts(sim.size, available).items()):
            data = marks(sim.families[name], n)
            if not op:
                if n == sim.size and not _kept(held - data, on).any():
                    found.append(Copy(name, cells))
                continue
            found += _sums(sim, op, name, cells, n, held, on)
    return found


def chosen(sim: Simulation, v: Combined, on: np.ndarray | None) -> list[Found]:
    """What rides along with the extremum of a group of threads."""
    picks = [sim.known_picks.get((a, b)) for a, b in zip(*v.marks.tolist(), strict=True)]
    for group in GROUPS:
        n = group or sim.size
        if (sim.rows and not group) or n == 1 or sim.size % n or (group == sim.size and sim.barriers):
            continue
        found: list[Found] = []
        for first in (False, True):
            heads = [t for t in range(sim.size) if (on is None or on[t]) and not (first and t % n)]
            held = {(id(picks[t]), t // n): picks[t] for t in heads}  # most threads of a group hold the same
            if one := _one_choice(sim, [(p, at * n) for (_, at), p in held.items()], group, first):
                found.append(one)
        if found:
            return found
    return []


def _one_choice(sim: Simulation, held: list[tuple[Pick | None, int]], group: int, first: bool) -> Chosen | None:
    """What all of the picks are, each of the group of threads from its start on; None if they differ."""
    found: Chosen | None = None
    for p, start in held:
        one = None if p is None else _choice(sim, p, start, group, first)
        if one is None or found not in (None, one):
            return None
        found = one
    return found


def _choice(sim: Simulation, p: Pick, start: int, group: int, first: bool) -> Chosen | None:
    """A pick, if it is one of a whole group of threads from ``start`` on."""
    order = tuple(dict.fromkeys(i - start for i in p.items))
    n, cells = group or sim.size, ""
    if p.key.startswith("["):
        if group:
            return None
        cells = next((c for c, m in counts(sim.size, sim.count_of(p.key)).items() if m == len(order)), "")
        n = len(order) if cells else -1
    if sorted(order) != list(range(n)):
        return None
    tie = p.tie
    kept: tuple[int, ...] = ()
    if tie == "first" and order == tuple(range(n))[::-1]:
        tie = "last"
    elif tie == "first" and order != tuple(range(n)):
        tie, kept = ("halves", ()) if order == _by_halves(n) else (tie, order)
    return Chosen(p.op, p.family, p.key, group, first, tie, cells, kept)


@cache
def _by_halves(n: int) -> tuple[int, ...]:
    """The numbers below a power of two in the order of their bits from the last to the first."""
    out: tuple[int, ...] = (0,)
    while len(out) < n:
        out = (*(2 * i for i in out), *(2 * i + 1 for i in out))
    return out


def _families(sim: Simulation) -> list[tuple[str, int]]:
    out = [(f, sim.size) for f in sim.families if not f.startswith("[")]
    return out + [(f"[{a}]", m.row) for a, m in sim.arrays.items()]


def _kept(differences: np.ndarray, on: np.ndarray | None) -> np.ndarray:
    """The differences of the threads that count."""
    return differences if on is None else np.where(on.reshape(differences.shape[1:]), differences, np.uint64(0))


def _sums(
    sim: Simulation,
    op: str,
    family: str,
    cells: str,
    n: int,
    held: np.ndarray,
    on: np.ndarray | None,
) -> list[Found]:
    found: list[Found] = []
    size, number = sim.size, sim.families[family]
    anyone = on is None or bool(on.any())
    for group in GROUPS:
        if sim.rows and not group:
            continue
        if group and (n != size or size % group or (group == size and sim.barriers)):
            continue
        total = _totals(number, n, group)
        mine = held.reshape(2, -1, group or size)
        beyond = mine - total[:, :, None]
        some = beyond.reshape(2, -1)[:, 0 if on is None else int(np.argmax(on))].tolist()
        of_this_thread = some if anyone else None
        for literal, extra in _literals(sim.literals, op, n, of_this_thread):
            here = _kept(beyond - extra[:, None, None], on)
            if not here.any():
                found.append(Total(op, family, group, False, cells, literal))
            if on is None and not here[:, :, 0].any():  # also of a block of one warp, where others have more
                found.append(Total(op, family, group, True, cells, literal))
        if n == size:
            found += _runs(op, family, cells, number, mine, group, on)
    # one thread of several, all lanes before some of them
    found.sort(key=lambda f: isinstance(f, Total) and f.first)
    return found


@lru_cache(maxsize=256)
def _totals(family: int, n: int, group: int) -> np.ndarray:
    """The sums of the first ``n`` data of a family by groups (0: all are one)."""
    return marks(family, n).reshape(2, -1, group or n).sum(axis=2, dtype=np.uint64)


@lru_cache(maxsize=256)
def _running(family: int, n: int, group: int, reverse: bool) -> tuple[np.ndarray, np.ndarray]:
    """The running sums within each group up to each of the data, and without it; from the last on if ``reverse``."""
    data = marks(family, n).reshape(2, -1, group or n)[:, :, :: -1 if reverse else 1]
    running = np.cumsum(data, axis=2, dtype=np.uint64)
    return running, running - data


def _literals(
    known: Literals, op: str, most: int, wanted: list[int] | None
) -> Iterator[tuple[float | None, np.ndarray]]:
    """The literals that may be combined with the data, and what they add to the marks: all, or what is ``wanted``."""
    if wanted is None or not any(wanted):
        yield None, np.zeros(2, dtype=np.uint64)
    if op in ("min", "max"):
        for value, mark in known.known.values():
            low, high = mark.tolist()
            for times in range(1, min(most, 64) + 1):
                extra = [low * times & _WORD, high * times & _WORD]
                if wanted is None or extra == wanted:
                    yield value, np.array(extra, dtype=np.uint64)


def _runs(
    op: str,
    family: str,
    cells: str,
    number: int,
    mine: np.ndarray,
    group: int,
    on: np.ndarray | None = None,
) -> list[Found]:
    found: list[Found] = []
    for reverse in (False, True):
        held = mine[:, :, ::-1] if reverse else mine
        running, before = _running(number, mine[0].size, group, reverse)
        after, without = running - held, before - held
        if reverse:
            after, without = after[:, :, ::-1], without[:, :, ::-1]
        if not _kept(after, on).any():
            found.append(Running(op, family, group, True, reverse, cells))
        elif not _kept(without, on).any():
            found.append(Running(op, family, group, False, reverse, cells))
    return found


def of_cells(sim: Simulation, array: str) -> list[Found]:
    """What the cells of ``array`` hold, best first: all of them, or one."""
    memory = sim.arrays[array]
    found: list[Found] = []
    for cells, n in counts(sim.size, memory.row).items():
        if memory.written[n:].any():
            continue
        held = memory.marks[:, :n]
        if memory.op:
            held = sim.literals.without_neutral(memory.op, held)
        for family, available in _families(sim):
            if n > available or (not family.startswith("[") and cells != "block"):
                continue
            data = marks(sim.families[family], n)
            if np.array_equal(held, data):
                found.append(Copy(family, cells))
            elif memory.op:
                found += _runs(memory.op, family, cells, sim.families[family], held[:, None, :], 0)
    if sim.interned and not memory.op:
        one = Combined("", np.repeat(memory.marks[:, :1], sim.size, axis=1), memory.type)
        found += [Cell(0, c) for c in chosen(sim, one, None) if isinstance(c, Chosen) and c.group == 0]
    if memory.op:
        one = Combined(memory.op, np.repeat(memory.marks[:, :1], sim.size, axis=1), memory.type)
        found += [Cell(0, t) for t in of_thread(sim, one) if isinstance(t, Total) and t.group == 0]
        if memory.row >= sim.size and not memory.written[sim.size :].any():
            found += _heads(sim, Combined(memory.op, memory.marks[:, : sim.size], memory.type))
    return found


def _heads(sim: Simulation, cells: Combined) -> list[Found]:
    """The sums that the first cells of groups of threads hold."""
    out: list[Found] = []
    for group in GROUPS[1:]:
        on = sim.threads % group == 0
        out += [Heads(t) for t in of_thread(sim, cells, on) if isinstance(t, Total) and t.group == group]
    return out
