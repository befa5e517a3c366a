"""The longest run of statements that a simulation explains, the same for every size of block."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.raising.collective.begun import simulation
from kraise.raising.collective.describe import (
    JOINT,
    Cell,
    Chosen,
    Copy,
    Found,
    Heads,
    Running,
    Total,
    of_cells,
    of_thread,
)
from kraise.raising.collective.frame import Frame
from kraise.raising.collective.marks import Beyond, Combined, Outside, Stored, marks
from kraise.raising.collective.opened import shuffles
from kraise.raising.collective.shared import Run, simulated
from kraise.raising.collective.simulate import Simulation
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned, reads
from kraise.raising.run.state import State
from kraise.raising.run.values import resolve

_TRIED = (64, 256)  # one of them is compared with the others: loops over warps have no round for few threads, and
# some shared arrays have no room for many
_LARGEST = 1024  # the threads of the largest block: a warp of warps


@dataclass
class Plan:
    """The statements explained, what locals and arrays hold after them, assignments of numbers to run as they are."""

    count: int
    locals: dict[str, Found]
    arrays: dict[str, Found | None]
    kept: list[k.Assign]
    sim: Simulation
    stmts: tuple[k.Stmt, ...]

    def outlets(self) -> list[k.Stmt]:
        """The stores to the caller's arrays, to run after it."""
        return [o.statement() for o in self.sim.outlets or ()]


Way = tuple[dict[str, Found], dict[str, "Found | None"], list[k.Assign]]
Said = list[Way]
Ran = tuple[Simulation, "Said | None"] | type[Beyond]


@dataclass
class Trials:
    """Simulations of one run of statements, each made once: the families of sizes that are asked for share them.

    ``stored``: a store to an array of the caller's has ended one that was to do without ``outlets``.
    """

    cx: Context
    st: State
    stmts: tuple[k.Stmt, ...]
    after: list[frozenset[str]]
    found: Frame
    stored: bool = False
    _shots: dict[tuple[int, bool], list[tuple[int, Said]]] = field(default_factory=dict)
    _others: dict[tuple[int, int, bool], Ran] = field(default_factory=dict)
    _run: Run | None = None

    def shots(self, size: int, outlets: bool) -> list[tuple[int, Said]]:
        """What can be said after each of the first statements, for blocks of ``size``."""
        key = (size, outlets)
        if key in self._shots:
            return self._shots[key]
        sim = simulation(self.cx, self.st, self.found, size, outlets)
        self._shots[key], stored = simulated(self._of(), "shots", sim, self._every)
        self.stored = self.stored or stored
        return self._shots[key]

    def _of(self) -> Run:
        if self._run is None:
            self._run = Run(self.stmts, self.after)
        return self._run

    def _every(self, sim: Simulation) -> tuple[list[tuple[int, Said]], bool]:
        """What can be said after each of the statements, and whether a store ended it."""
        shots: list[tuple[int, Said]] = []
        everyone = np.ones(sim.size, dtype=bool)
        useful = False
        for at, s in enumerate(self.stmts):
            if isinstance(s, k.LocalArray):
                break
            try:
                sim.run((s,), everyone)
            except Beyond as beyond:
                return shots, isinstance(beyond, Stored)
            useful = useful or _crosses(s)
            if useful:
                ways = _say(sim, self.stmts[: at + 1], self.after[at])
                if ways is not None:
                    shots.append((at + 1, ways))
        return shots, False

    def run(self, size: int, count: int, outlets: bool) -> tuple[Simulation, Said | None]:
        """The first ``count`` statements for blocks of ``size``, and what can be said after them.

        Raises:
            Beyond, Outside: as :meth:`Simulation.run`.
        """
        key = (size, count, outlets)
        if key not in self._others:
            sim = simulation(self.cx, self.st, self.found, size, outlets)
            self._others[key] = simulated(self._of(), count, sim, lambda sim: self._first(sim, count))
        done = self._others[key]
        if isinstance(done, type):
            raise done
        return done

    def _first(self, sim: Simulation, count: int) -> Ran:
        try:
            sim.run(self.stmts[:count], np.ones(sim.size, dtype=bool))
        except Beyond as beyond:
            return Outside if isinstance(beyond, Outside) else Beyond
        return sim, _say(sim, self.stmts[:count], self.after[count - 1])

    def needs(self, size: int, count: int, sizes: tuple[int, ...]) -> bool:
        """Whether the first ``count`` statements have a meaning for blocks of ``size``, and none for those of other
        ``sizes``: a thread would leave a shared array, or read a cell that no one has filled."""
        nearest = sorted(sizes, key=lambda n: abs(n - size))  # one alike ends it
        return not self._undefined(size, count) and all(self._undefined(n, count) for n in nearest if n != size)

    def _undefined(self, size: int, count: int) -> bool:
        try:
            self.run(size, count, outlets=False)
        except Outside:
            return True
        except Beyond:
            return False
        return False


def plan_of(trials: Trials, sizes: tuple[int, ...], outlets: bool = False) -> Plan | None:
    """What the longest run from the first statement on computes, the same for blocks of all ``sizes`` (those apart for
    which a shared array is too short). ``outlets``: stores to the caller's arrays may be among it."""
    stmts = trials.stmts
    tried = [s for s in _TRIED if s in sizes] or [sizes[-1]]
    trial = max(tried, key=lambda size: (max((count for count, _ in trials.shots(size, outlets)), default=0), size))
    shots = trials.shots(trial, outlets)
    spare: tuple[int, Way] | None = None
    for count, said in reversed(shots):
        for size in sizes:
            if size == trial:
                continue
            try:
                other, same = trials.run(size, count, outlets)
            except Outside:
                if size > trial:
                    continue
                said = []
                break
            except Beyond:
                said = []
                break
            if size == 1:
                alone = [way for way in said if _alone(other, way)]
                said = alone or ([] if same is None else _agreeing(said, same, size))
                if not said:
                    break
                continue
            said = [] if same is None else _agreeing(said, same, size)
            if not said:
                break
        if said:
            said = [way for way in said if not _in_part(trials, way, stmts[count:])]
            told = [way for way in said if not _lost(way, stmts[count:])]
            if said and not told and spare is None:
                spare = count, said[0]
            if said and (told or count == shots[0][0]):
                chosen = (count, told[0]) if told else spare
                assert chosen is not None
                return _made(trials, trial, outlets, *chosen)
    return None if spare is None else _made(trials, trial, outlets, *spare)


def _lost(way: Way, later: tuple[k.Stmt, ...]) -> bool:
    """Whether ``later`` reads an array of which nothing would be known, before it stores to it: scratch that several
    calls of one helper share is filled anew by each."""
    blank = {a for a, f in way[1].items() if f is None}
    for s in later if blank else ():
        inside = list(walked(s))
        if any(isinstance(n, k.Load | k.Atomic) and n.array in blank for n in inside):
            return True
        blank -= {n.array for n in inside if isinstance(n, k.Store)}
    return False


def _in_part(trials: Trials, way: Way, later: tuple[k.Stmt, ...]) -> bool:
    """Whether ``later`` reads an array of several rows of which a cell of the first would be known, or nothing."""
    for array, f in way[1].items():
        local = trials.st.locals.get(resolve(trials.cx, trials.st, array))
        in_rows = local is not None and len(local.shape) > 1
        read = any(isinstance(n, k.Load | k.Atomic) and n.array == array for n in walked(later))
        if in_rows and read and not isinstance(f, Running | Copy):
            return True
    return False


def _made(trials: Trials, size: int, outlets: bool, count: int, way: Way) -> Plan:
    sim, _ = trials.run(size, count, outlets)
    stmts = trials.stmts
    locals_, arrays, kept = way
    return Plan(count, locals_, arrays, kept, sim, stmts[:count])


def _alone(sim: Simulation, way: Way) -> bool:
    """Whether a block of one thread has what it had: the sum of one datum."""
    locals_, arrays, _ = way
    pairs: list[tuple[np.ndarray, Found | None]] = []
    for name, f in locals_.items():
        v = sim.env.get(name)
        if not isinstance(v, Combined):
            return False
        pairs.append((v.marks[:, 0], f))
    pairs += [(sim.arrays[a].marks[:, 0], f) for a, f in arrays.items() if a in sim.arrays]
    for held, said in pairs:
        inner = said.value if isinstance(said, Cell | Heads) else said
        if inner is None:
            continue
        if (isinstance(inner, Running) and not inner.inclusive) or getattr(inner, "literal", None) is not None:
            return False
        if inner.family not in sim.families or not np.array_equal(held, marks(sim.families[inner.family], 1)[:, 0]):
            return False
    return True


def _crosses(s: k.Stmt) -> bool:
    return shuffles(s) or isinstance(s, k.If | k.While | k.For)


def _say(sim: Simulation, stmts: tuple[k.Stmt, ...], live: frozenset[str]) -> Said | None:
    """The ways to say what the live locals and the arrays hold; None if something cannot be said."""
    ways: dict[str, list[Found]] = {}
    kept: list[k.Assign] = []
    for name in assigned(stmts):
        if name not in live or name not in sim.env:
            continue
        v = sim.env[name]
        if isinstance(v, Combined):
            found = of_thread(sim, v)
            if not found:
                return None
            ways[name] = found
        elif isinstance(v, np.ndarray):
            how = _numbers_kept(stmts, name)
            if how is None:
                return None
            kept += [s for s in how if s not in kept]
        else:
            return None
    for o in sim.outlets or ():
        for name in o.names:
            v = sim.env[name]
            assert isinstance(v, Combined)
            ways[name] = of_thread(sim, v, o.on)
            if not ways[name]:
                return None
        for name, v in o.used.items():
            if name not in assigned(stmts):
                continue
            how = _numbers_kept(stmts, name) if isinstance(v, np.ndarray) and sim.env[name] is v else None
            if how is None:
                return None
            kept += [s for s in how if s not in kept]
    arrays: dict[str, list[Found]] = {}
    for array, memory in sim.arrays.items():
        if memory.written.any():
            arrays[array] = of_cells(sim, array)
    if not any(isinstance(f, JOINT) for fs in (*ways.values(), *arrays.values()) for f in fs):
        return None
    out: Said = [({}, {}, kept)]
    for name, found in ways.items():
        out = [({**a, name: f}, b, c) for a, b, c in out for f in found][:16]
    for array, found in arrays.items():
        out = [(a, {**b, array: f}, c) for a, b, c in out for f in (*found, None)][:64]
    return [o for o in out if any(isinstance(f, JOINT) for f in (*o[0].values(), *o[1].values()))]


def _numbers_kept(stmts: tuple[k.Stmt, ...], name: str) -> list[k.Assign] | None:
    """The assignments to run for a live number: one at the top, of what the run does not change otherwise."""
    changed = assigned(stmts)
    own = [s for s in stmts if isinstance(s, k.Assign) and s.name == name]
    inner = assigned(tuple(s for s in stmts if not isinstance(s, k.Assign)))
    if len(own) != 1 or name in inner:
        return None
    out: list[k.Assign] = []
    for other in sorted(reads(own[0].value)):
        if other in changed:
            found = _numbers_kept(stmts, other) if other != name else None
            if found is None:
                return None
            out += found
    return [*out, own[0]]


def _agreeing(a: Said, b: Said, size: int) -> Said:
    """The ways of ``a`` that ``b`` has, too, for blocks of ``size``. An array that blocks of the one size leave alone
    (a loop has no round for them) may hold anything after the others."""
    out: Said = []
    for x in a:
        for y in b:
            if x[0].keys() != y[0].keys() or not y[1].keys() <= x[1].keys():
                continue
            locals_ = {n: both for n, f in x[0].items() if (both := _both(f, y[0][n], size)) is not None}
            arrays = {n: _both(f, y[1].get(n), size) for n, f in x[1].items()}
            same = all((arrays[n] is None) == (f is None) == (y[1].get(n) is None) for n, f in x[1].items())
            if same and len(locals_) == len(x[0]):
                out.append((locals_, arrays, x[2]))
                break
    return out


def _both(f: Found | None, other: Found | None, size: int) -> Found | None:
    """What is said of blocks of one size and of those of ``size``. The last warp of 1024 threads leaves no lane without
    a datum: ``v = lane < warps ? partial[lane] : -FLT_MAX`` brings a literal in for all others."""
    if f == other:
        return f
    if size == _LARGEST and isinstance(f, Total) and f.literal is not None and replace(f, literal=None) == other:
        return replace(f, full=size)
    if size == 2 and isinstance(f, Chosen) and f.tie == "halves" and replace(f, tie="first") == other:
        return f  # of two, the first
    if isinstance(f, Cell | Heads) and type(other) is type(f):
        inner = _both(f.value, other.value, size)  # type: ignore[union-attr]
        same = inner is not None and replace(f, value=inner) == replace(other, value=inner)  # type: ignore[arg-type]
        return replace(f, value=inner) if same else None  # type: ignore[arg-type]
    return None
