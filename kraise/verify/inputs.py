"""Arguments and launches for a kernel that has no case, or an incomplete one: sizes are found by running it.

Sizes that nothing fixes are small distinct primes (not square, no multiple of the block); arrays grow until no
access is outside; integer arrays that are used as subscripts hold small indices, and what they index grows too.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kraise.ir import kernel as k
from kraise.ir.types import StructType
from kraise.verify import interpreter
from kraise.verify.cases import Case, CaseError, load_case, load_cases, named_dtype
from kraise.verify.errors import InterpreterError
from kraise.verify.facts import Facts, Slot, flat_params, slots, walk
from kraise.verify.launches import (
    Triple,
    block_candidates,
    covering,
    covering_each,
    exact,
    extents_to_try,
    prober,
    reached,
    saturating,
    template_sizes,
    unseen_axes,
    used_axes,
)
from kraise.verify.roles import Roles, find_roles
from kraise.verify.scalars import dtype_of
from kraise.verify.sizes import FEW, launched, pitches, primes_for, rounded

__all__ = ["Case", "CaseError", "infer_case", "launch_for", "load_case", "load_cases"]

_ROWS = 60  # whole rows of 5 or 6, as of ``x_max + 4`` elements where sizes are 1: their last may be read in part
_MANY = 5  # extents that a program may ask for: of more, the arrays would have too many elements


def launch_for(
    source: k.Module, function: k.Function, arguments: Mapping[str, Any], case: Case | None = None
) -> tuple[Triple, Triple]:
    """The case's launch, or one that covers what the kernel guards (or exactly what it writes).

    Raises InterpreterError where no launch runs the kernel on these arguments.
    """
    if function.kind != "kernel":
        return (1, 1, 1), (1, 1, 1)
    if case is not None and case.grid is not None and case.block is not None:
        return interpreter.triple(case.grid), interpreter.triple(case.block)
    axes = used_axes(source, function)
    running = prober(source, function.name, arguments, case.shared if case is not None else None)
    fixed = interpreter.triple(case.block) if case is not None and case.block is not None else None
    failure: InterpreterError | None = None
    written = Facts(source).written(function.name)
    flat = interpreter.flatten_arguments(function, arguments)
    shapes = [np.shape(flat[s.path]) for s in flat_params(function) if s.path in written]
    for block in [fixed] if fixed is not None else block_candidates(source, function):
        try:
            if case is not None and case.grid is not None:
                running(interpreter.triple(case.grid), block)
                return interpreter.triple(case.grid), block
            found = covering(axes, block, running, max((int(np.size(v)) for v in flat.values()), default=0))
        except InterpreterError as error:
            failure = failure or error
            continue
        if found is not None and not found[1].needed and not found[1].negative:
            return found[0], block
        tight = exact(axes, extents_to_try(axes, shapes), block, running)
        if tight is not None:
            return tight
        if found is not None:
            failure = failure or InterpreterError(_outside(found[1].needed, found[1].negative))
    raise failure or InterpreterError("no launch was found that covers the kernel's work; give grid and block")


def _outside(needed: Mapping[tuple[str, int], int], negative: list[str]) -> str:
    if negative:
        return f"{negative[0]} is outside the array"
    (name, axis), extent = next(iter(needed.items()))
    return f"{name} must have an extent of {extent} on axis {axis}"


@dataclass(frozen=True)
class Attempt:
    """How the values are drawn: floats between ``low`` and ``high``, index arrays as permutations or not, integer
    scalars as ``small`` (None: primes, in some ``order``, or a ``few`` smaller numbers), arrays of unknown type as
    complex ("" none, "written" or "all"); ``chained``: an entry of an index array leads to one before it, the first to
    itself or to none (-1), as those of linked lists and trees do; ``flags``: all numbers of arrays are 0 or 1;
    ``ordered``: none of them decreases; ``even``: all sizes are."""

    low: float = -1.5
    high: float = 1.5
    permuted: bool = False
    small: int | None = None
    order: str = ""  # "rising", "falling": a row's pitch has to be larger than what is used of the row
    few: bool = False
    complex: str = ""
    chained: int | None = None  # where the first entry leads
    flags: bool = False
    ordered: bool = False
    even: bool = False


def infer_case(
    source: k.Module,
    function: k.Function,
    *,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    values: Mapping[str, Any] | None = None,
    dtype: str = "float32",
    grid: tuple[int, ...] | None = None,
    block: tuple[int, ...] | None = None,
    shared: int | None = None,
    seed: int = 0,
    injective: frozenset[str] = frozenset(),
    order: str = "",
    demanded: Mapping[int, int] | None = None,
    lone: frozenset[int] = frozenset(),
    positive: bool = False,
) -> Case:
    """A case for the function: ``shapes`` and ``values`` (scalars) that the user gives, the rest found; ``order``
    ("rising", "falling") of the sizes; arrays in ``injective`` hold each number once; ``demanded`` are numbers of
    threads by axis that the emitted function takes alone, ``lone`` the axes of one block only; floats are ``positive``
    if asked for.

    Raises CaseError where no arguments are found on which the kernel runs, with what stands in the way.
    """
    given = Case(function.name, {}, grid, block, shared, seed=seed, inferred=True)
    search = _Search(source, function, dict(shapes or {}), dict(values or {}), named_dtype(dtype), given)
    search.injective = injective
    search.demanded, search.lone = dict(demanded or {}), lone
    problem = ""
    attempt = Attempt(0.25, 1.75, order=order) if positive else Attempt(order=order)
    for _ in range(10):
        try:
            found = search.grow(attempt)
            if not found.covered and search.has_integers and attempt.small is None and not attempt.order:
                with contextlib.suppress(InterpreterError):  # the product of all sizes may have been too large
                    fewer = search.grow(replace(attempt, few=True))
                    found = fewer if fewer.covered else found
            arguments, launch, outcome = found.arguments, found.launch, found.outcome
        except InterpreterError as error:
            problem = problem or str(error)
            if "complex value" in str(error) and attempt.complex != "all":
                attempt = replace(attempt, complex="all" if attempt.complex else "written")
            elif "did not end" in str(error) and search.roles.indices and attempt.chained != -1:
                attempt = replace(attempt, chained=0 if attempt.chained is None else -1)
            elif attempt.low < 0:
                attempt = replace(attempt, low=0.25, high=1.75)
            elif attempt.small is None and search.has_integers:
                attempt = replace(attempt, small=1)
            else:
                break
            continue
        if outcome.race_count and grid is None and search.one_block():
            continue  # blocks that do all the same
        if outcome.race_count and search.roles.searched and not attempt.ordered:
            attempt = replace(attempt, ordered=True)  # merges by ranks
        elif outcome.race_count and search.roles.indices and not attempt.permuted:
            attempt = replace(attempt, permuted=True)
        elif outcome.race_count and search.has_integers and attempt.order != "falling" and not attempt.even:
            attempt = replace(attempt, order="falling" if attempt.order else "rising")
        elif outcome.race_count and not attempt.even:
            attempt = replace(attempt, order="", even=True)  # colourings of a torus
        elif outcome.race_count and not attempt.flags:
            attempt = replace(attempt, flags=True)
        elif not _finite(outcome) and attempt.low < 0:
            attempt = replace(attempt, low=0.25, high=1.75)
        elif not found.stores and outcome.written and attempt.order != "falling" and len(search.roles.asked) > 1:
            attempt = replace(attempt, order="falling" if attempt.order else "rising")  # a window fits in its image
        elif not found.stores and outcome.written and search.has_integers and attempt.small in (None, 1):
            attempt = replace(attempt, small=1 if attempt.small is None else 0)
        else:
            plain = function.kind != "kernel"
            arguments = interpreter.nest_arguments(arguments)
            return replace(given, args=arguments, grid=None if plain else launch[0], block=None if plain else launch[1])
    raise CaseError(f"{function.name}: no arguments were found ({problem}); give --shape, --set or a case.toml")


def _finite(outcome: interpreter.Outcome) -> bool:
    arrays = [outcome.arrays[name] for name in outcome.written]
    arrays += [np.asarray(v) for v in outcome.returned]
    return all(np.isfinite(a).all() for a in arrays if a.dtype.kind in "fc")


@dataclass(frozen=True)
class Found:
    """Arguments on which the kernel runs, with the launch (which may cover all that is guarded), what the run left
    behind, and the stores it made."""

    arguments: dict[str, Any]
    launch: tuple[Triple, Triple]
    outcome: interpreter.Outcome
    stores: int
    covered: bool = True


class _Search:
    """The sizes of one function's arguments, found by growing them."""

    def __init__(
        self,
        source: k.Module,
        function: k.Function,
        shapes: dict[str, tuple[int, ...]],
        values: dict[str, Any],
        dtype: np.dtype,
        case: Case,
    ):
        self.source, self.function, self.shapes, self.values = source, function, shapes, values
        self.dtype, self.case = dtype, case
        self.injective: frozenset[str] = frozenset()
        self.demanded: dict[int, int] = {}
        self.lone: frozenset[int] = frozenset()
        self.roles: Roles = find_roles(source, reached(source, function), function)
        self.axes = used_axes(source, function)
        self.slots = flat_params(function)
        staged = any(isinstance(n, k.LocalArray) and n.space == "shared" for n in walk(function.body))
        self.tiled = staged and len({name for name, _ in self.roles.asked}) > 1
        self.followed = {  # j = next[j]
            a.value.array
            for a in walk(function.body)
            if isinstance(a, k.Assign)
            and isinstance(a.value, k.Load)
            and any(isinstance(v, k.Var) and v.name == a.name for v in walk(a.value.subscripts))
        }
        self.templates = template_sizes(function)
        self.pitches = pitches(function)
        self.written = Facts(source).written(function.name)
        self.has_integers = any(
            s.ndim is None and s.path not in values and (s.element.is_integer or s.path in self.roles.integers)
            for s in self.slots
        )

    def one_block(self) -> bool:
        """Turns to launches of one block along the axes of which the kernel looks at threads only; False if it did."""
        unseen = unseen_axes(self.source, self.function) if self.function.kind == "kernel" else frozenset()
        new, self.lone = not unseen <= self.lone, self.lone | unseen
        return new

    def grow(self, attempt: Attempt) -> Found:
        """Arguments and a launch on which no access is outside. Raises InterpreterError."""
        failure: InterpreterError | None = None
        kernel = self.function.kind == "kernel"
        blocks = list(block_candidates(self.source, self.function, self.demanded)) if kernel else [(1, 1, 1)]
        if self.case.block is not None:
            blocks = [interpreter.triple(self.case.block)]
        for block in dict.fromkeys(blocks):
            try:
                return self.grow_with(attempt, block)
            except InterpreterError as error:
                failure = failure or error
        raise failure or InterpreterError("no launch was found")

    def grow_with(self, attempt: Attempt, block: Triple) -> Found:
        """The same, for one block."""
        primes = primes_for(block)
        if attempt.few or len(self.roles.asked) > _MANY:
            primes = itertools.cycle(FEW)
        if attempt.even:
            primes = (n + n % 2 for n in primes)
        if attempt.order:
            sizes = list(itertools.islice(primes, 8))
            primes = itertools.cycle(sorted(sizes, reverse=attempt.order == "falling"))
        if self.tiled:  # a size that two tiles share cannot be seen: all are the same
            primes = itertools.repeat(next(primes))
        scalars = {s.path: self.scalar(s, attempt, primes) for s in self.slots if s.ndim is None}
        extents = {s.path: self.first_shape(s, primes) for s in self.slots if s.ndim is not None}
        for _ in range(12):
            arguments = scalars | {s.path: self.array(s, extents, attempt) for s in self.slots if s.ndim is not None}
            covered, grid, block, probe = self.probe(arguments, block)
            if probe.negative:
                raise InterpreterError(f"{probe.negative[0]} is outside the array")
            if not probe.needed:
                outcome = interpreter.run(
                    self.source, self.function.name, arguments, grid=grid, block=block, shared=self.case.shared
                )
                return Found(arguments, (grid, block), outcome, probe.stores, covered)
            for (name, axis), extent in probe.needed.items():
                if name in self.shapes or extent > 100_000:
                    raise InterpreterError(f"{name} would need an extent of {extent} on axis {axis}")
                shape = list(extents[name])
                named = self.sizes(scalars, extents) | launched(self.function, grid, block)
                shape[axis] = rounded(extent, named, len(shape) == 1)
                if covered and attempt.small is not None and len(shape) == 1:
                    shape[axis] += -shape[axis] % _ROWS
                extents[name] = tuple(shape)
            self.equalise(extents)
        raise InterpreterError("the arrays' sizes do not settle")

    def equalise(self, extents: dict[str, tuple[int, ...]]) -> None:
        """The members of an array of structs have one length: the longest."""
        for param in self.function.params:
            if isinstance(param.type, StructType) and param.type.is_array:
                members = [s.path for s in slots(param) if s.ndim is not None and s.path not in self.shapes]
                longest = max((extents[path][0] for path in members), default=0)
                for path in members:
                    extents[path] = (longest, *extents[path][1:])

    def probe(self, arguments: dict[str, Any], block: Triple) -> tuple[bool, Triple, Triple, Any]:
        """A launch, whether it covers what is guarded, and what it touches: else a small one that divides nothing."""
        running = prober(self.source, self.function.name, arguments, self.case.shared)
        if self.function.kind != "kernel":
            return True, (1, 1, 1), block, running((1, 1, 1), (1, 1, 1))
        if self.case.grid is not None:
            grid = interpreter.triple(self.case.grid)
            return True, grid, block, running(grid, block)
        if 0 in self.lone and 0 not in self.demanded and self.case.block is None:
            block = saturating((1, 1, 1), block, running)
        found = covering(tuple(axis for axis in self.axes if axis not in self.lone), block, running)
        if found is not None:
            return True, found[0], block, found[1]
        x, y, z = (n if axis in self.axes and axis not in self.lone else 1 for axis, n in enumerate((3, 2, 2)))
        if self.case.block is None:
            block = saturating((x, y, z), block, running)
        grid = covering_each((x, y, z), self.axes, block, running) if len(self.axes) > 1 else (x, y, z)
        return False, grid, block, running(grid, block)

    def scalar(self, slot: Slot, attempt: Attempt, primes: Any) -> Any:
        """A scalar: a prime where it is an integer, else a number around one."""
        if slot.path in self.values:
            return self.values[slot.path]
        t = slot.element
        if t.kind == "bool":
            return True
        modes = self.roles.modes.get(slot.path) if t.kind == "number" else None
        if modes or slot.path in self.roles.colours:
            return modes[self.case.seed % len(modes)] if modes else 1
        if t.is_integer or slot.path in self.roles.integers:
            if slot.path in self.templates and attempt.small is None:
                return self.templates[slot.path]
            number = next(primes) if attempt.small is None else attempt.small
            return number * math.lcm(*(by for name, by in self.function.multiples if name == slot.path))
        number = float(np.random.default_rng([self.case.seed, _key(slot.path)]).uniform(0.5, 1.5))
        return complex(number, 0.5) if t.kind == "complex" else number

    def first_shape(self, slot: Slot, primes: Any) -> tuple[int, ...]:
        """Where the program asks for an extent, a prime; elsewhere 1, to grow."""
        if slot.path in self.shapes:
            return tuple(self.shapes[slot.path])
        asked, flat = self.roles.asked, (slot.ndim or 0) - len(slot.tail)
        return (*(next(primes) if (slot.path, axis) in asked else 1 for axis in range(flat)), *slot.tail)

    def sizes(self, scalars: Mapping[str, Any], extents: Mapping[str, tuple[int, ...]]) -> set[int]:
        """The sizes that the arguments name: integer scalars, and the extents that the program asks for."""
        named = {v for v in scalars.values() if type(v) is int and v > 1}
        return named | self.pitches | {extents[name][axis] for name, axis in self.roles.asked if name in extents}

    def is_complex(self, slot: Slot, attempt: Attempt) -> bool:
        """Is an array of unknown element type to be complex in this attempt?"""
        return attempt.complex == "all" or (attempt.complex == "written" and slot.path in self.written)

    def array(self, slot: Slot, extents: Mapping[str, tuple[int, ...]], attempt: Attempt) -> np.ndarray:
        """An array of the slot's type; in order along its last axis where the program looks for numbers by halves."""
        data = self.drawn(slot, extents, attempt)
        return np.sort(data, axis=-1) if attempt.ordered or slot.path in self.roles.searched else data

    def drawn(self, slot: Slot, extents: Mapping[str, tuple[int, ...]], attempt: Attempt) -> np.ndarray:
        """An array of the slot's type: a row pointer, indices, or random numbers."""
        shape = extents[slot.path]
        rng = np.random.default_rng([self.case.seed, _key(slot.path)])
        size = int(np.prod(shape))
        role = self.roles
        integer = slot.path in role.integers or slot.path in role.counted
        whole = np.dtype(np.uint64 if slot.path in role.words else np.int32)
        dtype = dtype_of(slot.element) or (whole if integer else self.dtype)
        if slot.path in role.bounds:
            return (
                np.concatenate([[0], np.cumsum(rng.integers(0, 4, max(size - 1, 0)))])[:size]
                .reshape(shape)
                .astype(dtype)
            )
        if slot.path in role.indices:
            distinct = attempt.permuted or slot.path in self.injective
            drawn = rng.permutation(size) if distinct else rng.integers(0, 6, size)
            if attempt.chained is not None and slot.path in self.followed:
                drawn = np.maximum(np.minimum(drawn, np.arange(size) - 1), attempt.chained)
            return drawn.reshape(shape).astype(dtype)
        if dtype.kind == "f" and slot.element.kind == "number" and self.is_complex(slot, attempt):
            dtype = np.dtype(np.complex64 if dtype.itemsize < 8 else np.complex128)
        if dtype.kind == "b" or attempt.flags:
            return rng.integers(0, 2, shape).astype(dtype)
        if dtype.kind in "iu":
            low, high = (0, 16) if slot.path in role.shifts else (0 if dtype.kind == "u" else -50, 100)
            return rng.integers(low, high, shape).astype(dtype)
        data = rng.uniform(attempt.low, attempt.high, shape)
        return (data + 1j * rng.uniform(attempt.low, attempt.high, shape) if dtype.kind == "c" else data).astype(dtype)


def _key(name: str) -> int:
    return int.from_bytes(name.encode()[:8].ljust(8, b"\0"), "little") % (2**31)
