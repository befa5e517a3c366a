"""The reference interpreter of Kernel IR, the definition of meaning: thread by thread, barriers honoured, plain, slow.

With ``duals`` every float carries its tangents along k directions (forward mode); with ``widen`` all floats are
computed in 64 bits, which is what derivatives are compared in.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kraise.ir import kernel as k
from kraise.ir.dynamic_shared import element_width
from kraise.verify.compile import Program, program_of
from kraise.verify.duals import dual, dual_caster, plain
from kraise.verify.errors import InterpreterError, Race, UndefinedRead
from kraise.verify.facts import Slot, flat_params, slots
from kraise.verify.memory import Array, Storage
from kraise.verify.probe import Probe
from kraise.verify.races import RaceLog
from kraise.verify.scalars import caster, dtype_of, is_sized
from kraise.verify.schedule import Block, Triple, run_grid, thread_name

Launch = int | tuple[int, ...]


@dataclass(frozen=True)
class Outcome:
    """What a run left behind.

    ``arrays``: each array parameter (dotted path for a struct's member) after the run; ``tangents``: the same with a
    leading axis over the directions, for float arrays; ``scalars``: by-reference scalar parameters; ``returned`` and
    ``returned_tangents``: what a plain function returned, an array that is a parameter by its name in
    ``returned_names`` ("" otherwise); ``written``: the array parameters that the function may write, in order (of a
    host function: that this run wrote; ``may_write``: that another number of rounds may write).
    """

    arrays: dict[str, np.ndarray]
    written: tuple[str, ...]
    returned: tuple[Any, ...] = ()
    returned_names: tuple[str, ...] = ()
    scalars: dict[str, Any] = field(default_factory=dict)
    tangents: dict[str, np.ndarray] = field(default_factory=dict)
    returned_tangents: tuple[np.ndarray | None, ...] = ()
    scalar_tangents: dict[str, np.ndarray] = field(default_factory=dict)
    may_write: tuple[str, ...] = ()
    races: tuple[Race, ...] = ()
    race_count: int = 0
    ties: int = 0


def triple(launch: Launch) -> Triple:
    """A launch extent as (x, y, z)."""
    extents = (launch,) if isinstance(launch, int | np.integer) else tuple(launch)
    x, y, z = (*map(int, extents), *(1,) * (3 - len(extents)))
    return x, y, z


def shared_extent(shared: int | None, block: Triple, function: k.Function) -> int:
    """The numbers in a dynamic shared array: what the launch says, else two elements for each thread."""
    return shared if shared is not None else max(2 * math.prod(block), 1) * element_width(function)


def run(
    module: k.Module,
    name: str,
    arguments: Mapping[str, Any],
    *,
    grid: Launch = 1,
    block: Launch = 1,
    shared: int | None = None,
    order: int | None = None,
    duals: Mapping[str, Any] | None = None,
    widen: bool = False,
    detect_races: bool = True,
    probe: Probe | None = None,
) -> Outcome:
    """Run the function ``name`` of ``module`` on copies of ``arguments``.

    ``arguments``: by parameter; a struct is a mapping or an object with its members, or its members are given by dotted
    path. ``duals``: tangents of shape (k, *shape) by the same names; those not named are zero. ``shared``: the extent
    of a dynamic shared array. ``order``: a seed for the order of blocks and threads (-1: backwards). ``probe`` takes
    note of accesses outside the arguments instead of refusing them. Raises InterpreterError (with its place) where the
    program has no meaning on these arguments.
    """
    try:
        function = module.function(name)
    except KeyError:
        raise InterpreterError(f"there is no function {name} in {module.file}") from None
    if function.kind == "host":
        from kraise.verify.hosts import run_host

        return run_host(module, name, arguments, duals=duals, widen=widen, order=order, detect_races=detect_races)
    grid3, block3 = triple(grid), triple(block)
    kernel = function.kind == "kernel"
    if not kernel:
        grid3 = block3 = (1, 1, 1)
    log = RaceLog()
    races = log if detect_races and kernel and math.prod(grid3) * math.prod(block3) > 1 else None
    directions = _directions(duals)
    program = program_of(module, directions=directions, widen=widen, probing=probe is not None)
    bound = _Binding(module, function, program, arguments, duals or {}, races, probe)
    log.locate = lambda: program.span_now(sys._getframe())
    size = shared_extent(shared, block3, function)
    returned: tuple[Any, ...] = ()
    before = program.rounds
    try:
        compiled = program.function(name)
        bound.bind_tables()
        suspends = program.facts.suspends(name)
        with np.errstate(all="ignore"):
            if kernel:
                run_grid(
                    compiled,
                    bound.values,
                    grid=grid3,
                    block=block3,
                    suspends=suspends,
                    waits_for_grid=program.facts.suspends(name, "grid"),
                    new_block=lambda: Block(directions, races, size, module.language == "python"),
                    log=log,
                    operation=program.operation,
                    order=order,
                )
            elif suspends:
                raise InterpreterError(f"{name} waits at a barrier, but no grid runs it", function.span)
            else:
                returned = compiled(
                    Block(directions, None, size, module.language == "python"), (0,) * 6 + (1,) * 6, *bound.values
                )
    except Exception as error:
        running = thread_name(log.thread, grid3, block3) if kernel else ""
        raise _explained(error, program, running) from None
    if probe is not None:
        probe.rounds = program.rounds - before
    return _outcome(bound, returned, log, program, grid3, block3)


def _directions(duals: Mapping[str, Any] | None) -> int:
    return max((np.shape(t)[0] for t in (duals or {}).values()), default=0)


def _explained(error: Exception, program: Program, running: str) -> InterpreterError:
    span = program.span_of(error.__traceback__)
    if isinstance(error, InterpreterError):
        error.span = error.span or span
        error.thread = error.thread or running
        return error
    if isinstance(error, NameError) and (quoted := re.search(r"'(\w+)'", str(error))):
        name = program.display.get(quoted[1], quoted[1])
        return UndefinedRead(f"{name} is read before it has a value", span, running)
    if isinstance(error, IndexError) and "tuple index" in str(error):
        return InterpreterError("a function ended without returning a value", span, running)
    if isinstance(error, RecursionError):
        return InterpreterError("the recursion is too deep", span, running)
    if isinstance(error, TypeError) and "NoneType" in str(error):
        return UndefinedRead("a value is read before it is defined", span, running)
    return InterpreterError(f"{error}", span, running)


class _Binding:
    """The arguments as the program's arrays and scalars."""

    def __init__(
        self,
        module: k.Module,
        function: k.Function,
        program: Program,
        arguments: Mapping[str, Any],
        duals: Mapping[str, Any],
        log: RaceLog | None,
        probe: Probe | None,
    ):
        self.probe = probe
        self.module, self.function, self.program = module, function, program
        self.written = program.facts.written(function.name)
        self.arrays: dict[str, Array] = {}
        self.values: list[Any] = []
        self.slots = flat_params(function)
        given = flatten_arguments(function, arguments)
        for name, by in function.multiples:
            if int(given.get(name, 0)) % by:
                raise InterpreterError(f"{name} must be a multiple of {by}", function.span)
        tangents = flatten_arguments(function, duals)
        for slot in self.slots:
            if slot.path not in given:
                raise InterpreterError(f"no value is given for the parameter {slot.path} of {function.name}")
            value, t = given[slot.path], tangents.get(slot.path)
            self.values.append(self.scalar(slot, value, t) if slot.ndim is None else self.array(slot, value, t, log))

    def scalar(self, slot: Slot, value: Any, tangents: Any) -> Any:
        """A scalar argument, in its declared type."""
        if np.ndim(value):
            raise InterpreterError(f"{slot.path} is a scalar, but an array of shape {np.shape(value)} is given")
        element = self.program.type(slot.element)
        number = value if type(value) in (bool, int, float, complex) else np.asarray(value)[()]
        number = caster(element)(number) if is_sized(element) else number
        t = None if tangents is None else np.array(tangents).reshape(-1)
        return dual_caster(element)(dual(number, t)) if self.program.directions else number

    def array(self, slot: Slot, value: Any, tangents: Any, log: RaceLog | None) -> Array:
        """A copy of an array argument, in its declared element type."""
        dtype = dtype_of(self.program.type(slot.element)) if is_sized(slot.element) else None
        data = np.array(value, dtype=dtype, order="C")
        if data.ndim != slot.ndim:
            raise InterpreterError(f"{slot.path} has {slot.ndim} axes, but an array of shape {data.shape} is given")
        storage = Storage(data, self.program.directions, log if slot.path in self.written else None)
        storage.narrow = self.function.widens and data.dtype.kind in "iu" and data.dtype.itemsize < 4
        storage.from_end = self.module.language == "python"
        if tangents is not None and storage.tangents is not None:
            storage.tangents[:] = np.asarray(tangents).reshape(self.program.directions, data.size).T
        make = Array if self.probe is None else self.probe.array
        self.arrays[slot.path] = make(slot.path, storage, data.shape)
        return self.arrays[slot.path]

    def bind_tables(self) -> None:
        """The module's constant tables that the program names, as arrays."""
        constants = {c.name: c for c in self.module.constants}
        for name, text in self.program.tables.items():
            table = constants[name]
            dtype = dtype_of(self.program.type(table.type)) or np.dtype(float)
            data = np.array(table.values, dtype).reshape(table.shape or (len(table.values),))
            self.program.namespace[text] = Array(name, Storage(data, self.program.directions), data.shape)


def flatten_arguments(function: k.Function, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by slot path: struct values (mappings, objects, sequences in declared order) are taken apart."""
    flat: dict[str, Any] = {}
    for param in function.params:
        for slot in slots(param):
            if slot.path in arguments:
                flat[slot.path] = arguments[slot.path]
            elif param.name in arguments:
                flat[slot.path] = _member(arguments[param.name], slot.path.split(".")[1:], slot.path)
            elif param.default is not None:
                flat[slot.path] = param.default.value
    return flat


def nest_arguments(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by dotted path put together again: a struct is a mapping of its members."""
    nested: dict[str, Any] = {}
    for path, value in flat.items():
        *outer, last = path.split(".")
        place = nested
        for name in outer:
            place = place.setdefault(name, {})
        place[last] = value
    return nested


def _member(value: Any, names: list[str], path: str) -> Any:
    for name in names:
        try:
            value = value[name] if isinstance(value, Mapping) else getattr(value, name)
        except (KeyError, AttributeError):
            raise InterpreterError(f"the argument has no member for {path}") from None
    return value


def _outcome(
    bound: _Binding, returned: tuple[Any, ...], log: RaceLog, program: Program, grid: Triple, block: Triple
) -> Outcome:
    references = [s.path for s in bound.slots if s.by_reference]
    scalars = dict(zip(references, returned[len(returned) - len(references) :], strict=False)) if returned else {}
    values = returned[: len(returned) - len(scalars)]
    names = {id(a.storage): path for path, a in bound.arrays.items()}
    races = tuple(
        Race(r.array, r.element, _renamed(r.first, grid, block), _renamed(r.second, grid, block), r.kind, r.span)
        for r in log.races
    )
    return Outcome(
        arrays={path: _data(a) for path, a in bound.arrays.items()},
        written=tuple(path for path in bound.arrays if path in bound.written),
        returned=tuple(_data(v) if isinstance(v, Array) else plain(v) for v in values),
        returned_names=tuple(names.get(id(v.storage), "") if isinstance(v, Array) else "" for v in values),
        scalars={name: plain(v) for name, v in scalars.items()},
        tangents={path: t for path, a in bound.arrays.items() if (t := _tangents(a)) is not None},
        returned_tangents=tuple(_value_tangents(v, program.directions) for v in values),
        scalar_tangents={n: t for n, v in scalars.items() if (t := _value_tangents(v, program.directions)) is not None},
        races=races,
        race_count=log.count,
        ties=program.ties.count,
    )


def _renamed(text: str, grid: Triple, block: Triple) -> str:
    return thread_name(int(text.removeprefix("thread ")), grid, block)


def _data(array: Array) -> np.ndarray:
    stop = array.offset + math.prod(array.shape)
    return array.storage.flat[array.offset : stop].reshape(array.shape).copy()


def _tangents(array: Array) -> np.ndarray | None:
    t = array.storage.tangents
    if t is None:
        return None
    stop = array.offset + math.prod(array.shape)
    return t[array.offset : stop].T.reshape(t.shape[1], *array.shape).copy()


def _value_tangents(value: Any, directions: int) -> np.ndarray | None:
    if not directions:
        return None
    if isinstance(value, Array):
        return _tangents(value)
    if isinstance(plain(value), float | complex | np.inexact):
        return np.zeros(directions) if plain(value) is value else value.tangents
    return None
