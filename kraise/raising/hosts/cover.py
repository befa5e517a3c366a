"""Launches that leave out what the kernel's guards let through (contract, section 1: a launch is taken to cover them).

A raised kernel that does not ask for its launch computes all that its guards allow. Where the host's own launch has
fewer threads than that, or blocks of another size than the kernel's tile, the source computes something else: a
warning with both numbers, and where they are numbers of the whole call, the emitted host raises a ``ValueError``. Sizes
that the host gets as parameters are tried with a few numbers, counters of its loops with the first, the middle and the
last round.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from kraise.diagnostics import Diagnostic
from kraise.ir import equations as eq
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import sets
from kraise.ir.types import INT, ArrayType, ScalarType

CODE = "KR215"
_SIZES = (1000, 64, 100, 4096, 997, 1025, 1026)  # what a parameter may be: not always a multiple of anything
_FEW = (1, 2, 5, 20)  # of what the threads share out
_ROUNDS = (0.0, 0.5, 1.0)  # of a loop, as a part of its rounds
Number = int | float
_OPS: dict[str, Callable[..., Number]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "tdiv": lambda a, b: int(a / b),
    "mod": lambda a, b: a % b,
    "tmod": lambda a, b: math.fmod(a, b) if isinstance(a, float) else int(math.fmod(a, b)),
    "min": min,
    "max": max,
    "neg": lambda a: -a,
    "ceil": math.ceil,
    "floor": math.floor,
    "lshift": lambda a, b: a << b,
    "rshift": lambda a, b: a >> b,
}


class _Unknown(Exception):
    """A number that the host's text does not give."""


@dataclass
class Sizes:
    """The numbers in a host function: names with one value, sizes of arrays with one shape, parameters as a size."""

    host: h.Host
    size: int = 0
    at: float = 0.0  # the round of a loop
    larger: frozenset[str] = frozenset()  # what is larger than the others
    tried: dict[str, Number] = field(default_factory=dict)  # what was given a number

    def __post_init__(self) -> None:
        self.params = {p.name: p for p in self.host.params}
        self.set: Counter[str] = Counter()
        self.values: dict[str, Any] = {}
        self.shapes: dict[str, h.Alloc] = {}
        self.copies: dict[str, str] = {}
        self.loops: dict[str, h.For] = {}
        for s in _statements(self.host.body):
            for name in sets(s):
                self.set[name] += 1
            if isinstance(s, h.Assign):
                self.values[s.name] = s.value
            elif isinstance(s, h.Alloc):
                self.shapes[s.name] = s
            elif isinstance(s, h.Bind) and isinstance(s.value, h.Whole) and s.value.offset is s.value.count is None:
                self.copies[s.name] = s.value.array
            elif isinstance(s, h.For):
                self.loops[s.var] = s

    def name(self, name: str) -> Number:
        """The value of a scalar. Raises _Unknown."""
        if self.set[name] == 1 and name in self.values and name not in self.params:
            return self.number(self.values[name])
        if self.set[name] == 1 and name in self.loops:
            loop = self.loops[name]
            rounds = range(*(int(self.number(e)) for e in (loop.start, loop.stop, loop.step)))
            if not rounds:
                raise _Unknown
            self.tried[name] = rounds[int(self.at * (len(rounds) - 1))]
            return self.tried[name]
        param = self.params.get(name)
        if self.set[name] or param is None or not isinstance(param.type, ScalarType) or param.type.kind == "float":
            raise _Unknown
        return self.given(name)

    def given(self, name: str) -> Number:
        """A size of the caller's."""
        self.tried[name] = self.size + self.size // 3 if name in self.larger else self.size
        return self.tried[name]

    def rank(self, array: str) -> int:
        """How many axes an array has. Raises _Unknown."""
        if array in self.params:
            kind = self.params[array].type
            if self.set[array] or not isinstance(kind, ArrayType):
                raise _Unknown
            return kind.ndim
        made = self.shapes.get(array)
        other = made.like if made is not None else self.copies.get(array, "")
        if self.set[array] != 1 or (made is None and not other):
            raise _Unknown
        if made is not None and made.shape is not None:
            return len(made.shape)
        return self.rank(other)

    def extent(self, array: str, axis: int) -> Number:
        """An extent of an array, its whole size for the axis -1. Raises _Unknown."""
        if axis < 0:
            return math.prod(self.extent(array, n) for n in range(self.rank(array)))
        if self.set[array] == 1 and array in self.copies and array not in self.params:
            return self.extent(self.copies[array], axis)
        if self.set[array] == 1 and array in self.shapes and array not in self.params:
            made = self.shapes[array]
            if made.shape is not None and axis < len(made.shape):
                return self.number(made.shape[axis])
            if made.like:
                return self.extent(made.like, axis)
        if self.set[array] or array not in self.params:
            raise _Unknown
        return self.given(f"{array}.shape[{axis}]")

    def number(self, e: Any) -> Number:
        """The value of an expression of the host. Raises _Unknown."""
        return _value(e, self.name, self.extent)


def warnings(host: h.Host, kernels: dict[str, eq.Kernel]) -> list[Diagnostic]:
    """What launches of a host function leave out, or whose blocks do not fit, one finding a launch."""
    found = []
    for s in _statements(host.body):
        if isinstance(s, h.Launch) and s.grid is not None and s.block is not None and s.function in kernels:
            said = _tile(host, s, kernels[s.function]) or next(iter(short(host, s, kernels[s.function]).values()), "")
            if said:
                hint = "the emitted kernel computes all that its guards let through; the host checks it where it can"
                found.append(Diagnostic(CODE, said, s.span, hint, host.name, "warning"))
    return found


def _tile(host: h.Host, s: h.Launch, kernel: eq.Kernel) -> str:
    for axis, size in kernel.tile:
        try:
            sizes = Sizes(host, _SIZES[0])
            given = sizes.number((s.block or ())[axis]) if axis < len(s.block or ()) else 1
        except (_Unknown, ArithmeticError, ValueError):
            continue
        if given != size and not sizes.tried:
            return (
                f"{kernel.name} counts on {size} threads of a block along {'xyz'[axis]}, and is launched with {given}"
            )
    return ""


def short(host: h.Host, s: h.Launch, kernel: eq.Kernel) -> dict[tuple[eq.Param, eq.Expr], str]:
    """What the guards let through along an axis that the launch leaves out for some sizes, and with which numbers."""
    threads = [(eq.Param(f"threads.{'xyz'[axis]}", INT), extent) for axis, extent in kernel.covers]
    wanted = dict.fromkeys((*threads, *kernel.least))
    return {(number, extent): said for number, extent in wanted if (said := _less(host, s, kernel, number, extent))}


def fewer(kernel: eq.Kernel, number: eq.Param, extent: eq.Expr) -> str:
    """What is wrong with a launch that has fewer threads (blocks, threads of a block) than that."""
    if _shared_out(extent):
        return f"{kernel.name} is launched with no {words(number)}"
    return f"{kernel.name} is launched with fewer {words(number)} than its guard lets through"


def _shared_out(extent: eq.Expr) -> bool:
    """Whether any number of threads will do, if there is work for one."""
    return isinstance(extent, eq.Op) and extent.name == "min" and extent.args[-1] == eq.Const(1, INT)


def words(number: eq.Param) -> str:
    """``threads.x`` in words."""
    head, _, letter = number.name.partition(".")
    said = {"grid": "blocks", "block": "threads of a block"}.get(head, head)
    return f"{said} along {letter}"


def _less(host: h.Host, s: h.Launch, kernel: eq.Kernel, number: eq.Param, extent: eq.Expr) -> str:
    larger = _on_another_axis(host, s, kernel, extent)
    tried = (*_SIZES, *(_FEW if _shared_out(extent) else ()))
    for size, at, more in (*((n, at, frozenset()) for n, at in product(tried, _ROUNDS)), (_SIZES[0], 0.0, larger)):
        sizes = Sizes(host, size, at, more)
        try:
            given = _threads(s, extents(kernel, number), sizes)
            wanted = _value(extent, *_arguments(kernel, s, sizes))
        except (_Unknown, ArithmeticError, ValueError):
            break
        if given < wanted and not _raises(kernel, s, sizes):
            where = f" where {_told(sizes.tried)}" if sizes.tried else ""
            had = f"{kernel.name} is launched with {given} {words(number)}"
            work = "its loop takes elements" if _shared_out(extent) else f"its guard lets {wanted} through"
            return f"{had}, and {work}{where}"
    return ""


def extents(kernel: eq.Kernel, number: eq.Param) -> tuple[tuple[str, int], ...]:
    """What of a launch the number of threads (blocks, threads of a block) along an axis is the product of: "grid" or
    "block", and an axis of it."""
    head, _, letter = number.name.partition(".")
    axis = "xyz".index(letter)
    if axis == 0 and kernel.one_line and head == "threads":
        return kernel.one_line
    rows = range(kernel.one_row or 1) if axis == 0 else (axis,)
    blocks = (("grid", axis),) if head != "block" else ()
    return (*blocks, *(("block", n) for n in rows if head != "grid"))


def _threads(s: h.Launch, along: Iterable[tuple[str, int]], sizes: Sizes) -> int:
    """The product of extents of a launch. Raises _Unknown."""
    threads = 1
    for head, axis in along:
        given = (s.grid if head == "grid" else s.block) or ()
        match given:
            case (k.Var(name=name, type=ScalarType(kind="number")),) if axis and name not in sizes.values:
                raise _Unknown  # Python's: it may be a tuple
        threads *= int(sizes.number(given[axis])) if axis < len(given) else 1
    return threads


def _on_another_axis(host: h.Host, s: h.Launch, kernel: eq.Kernel, extent: Any) -> frozenset[str]:
    """The sizes that a guard along one axis asks for, where the launch looks at them along any: ``grid`` may have them
    the wrong way round, which sizes that are all the same do not show."""
    launch, guard = Sizes(host, _SIZES[0]), Sizes(host, _SIZES[0])
    try:
        _value(extent, *_arguments(kernel, s, guard))
        for axis in range(len(s.grid or ())):
            _threads(s, (("grid", axis), ("block", axis)), launch)
    except (_Unknown, ArithmeticError, ValueError):
        return frozenset()
    return frozenset(guard.tried) if set(guard.tried) <= set(launch.tried) else frozenset()


def _raises(kernel: eq.Kernel, s: h.Launch, sizes: Sizes) -> bool:
    """Whether the emitted function raises a ``ValueError`` for these sizes: it takes no such launch."""
    for condition, _ in kernel.checks:
        match condition:
            case eq.Op(name="le" | "lt" | "ge" | "gt" as name, args=(a, b)):
                try:
                    left, right = (_value(x, *_arguments(kernel, s, sizes)) for x in (a, b))
                except (_Unknown, ArithmeticError, ValueError):
                    continue
                if not {"le": left <= right, "lt": left < right, "ge": left >= right, "gt": left > right}[name]:
                    return True
    return False


def _told(tried: dict[str, Number]) -> str:
    """``n, m is 1000 and k is 3``."""
    names: dict[Number, list[str]] = {}
    for name, number in tried.items():
        names.setdefault(number, []).append(name)
    return " and ".join(f"{', '.join(n)} is {number}" for number, n in names.items())


def _arguments(
    kernel: eq.Kernel, s: h.Launch, sizes: Sizes
) -> tuple[Callable[[str], Number], Callable[[str, int], Number]]:
    given = {p.name: a for p, a in zip(kernel.params, s.args, strict=False)}  # type: ignore[attr-defined]

    def name(param: str) -> Number:
        if param not in given or isinstance(given[param], k.ArrayRef | h.Whole):
            raise _Unknown
        return sizes.number(given[param])

    def extent(param: str, axis: int) -> Number:
        match given.get(param):
            case k.ArrayRef(array=array, offset=None) | h.Whole(array=array, offset=None):
                return sizes.extent(array, axis)
        raise _Unknown

    return name, extent


def _value(e: Any, name: Callable[[str], Number], extent: Callable[[str, int], Number]) -> Number:
    match e:
        case k.Const(value=int() | float() as number) | eq.Const(value=int() | float() as number):
            return number
        case k.Var(name=n) | eq.Param(name=n):
            return name(n)
        case k.Shape(array=array, axis=axis) | eq.Shape(array=array, axis=axis):
            return extent(array, axis)
        case h.Library(name="size", args=(h.Whole(array=array, offset=None, count=None),)):
            return extent(array, -1)
        case k.Cast(type=t, arg=arg) | eq.Cast(type=t, arg=arg):
            inner = _value(arg, name, extent)
            return int(inner) if t.is_integer else inner
        case k.Op(name=op, args=args) | eq.Op(name=op, args=args) if op in _OPS:
            return _OPS[op](*(_value(a, name, extent) for a in args))
    raise _Unknown


def _statements(body: tuple[h.Stmt, ...]) -> Iterator[h.Stmt]:
    for s in body:
        yield s
        for block in h.children(s):
            yield from _statements(block)
