"""What a kernel that does not ask for its launch counts on of it, as conditions of the host that launches it.

A tree reduction over blocks of any power of two is one sum: the function takes no ``block``. A host that launches
blocks of 96 threads gets another number from the source: what its numbers decide is decided here, the rest the emitted
host checks. So it does where a launch may have fewer threads than the kernel's guards let through.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, Protocol

from kraise.diagnostics import Span, refuse
from kraise.ir import equations as eq
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import expression_names, set_within
from kraise.ir.operations import COMPARISONS
from kraise.ir.types import BOOL, INT32, NUMBER
from kraise.raising.hosts import cover
from kraise.raising.hosts.effects import Function

_OPS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "tdiv": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "mod": operator.mod,
    "min": min,
    "max": max,
    "and_": operator.and_,
    **COMPARISONS,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
}
Extents = tuple[k.Expr, ...]
_ANY = k.Var("?", NUMBER)  # of a launch of which it was found before that this number does not matter
_UNTOLD = k.Var("?", INT32)  # made of what is not followed: how many multiprocessors a device has


class _Unknown(Exception):
    """A number that the launch does not say."""


class Scalars(Protocol):
    """What raises a host function."""

    host: h.Host

    def scalar(self, e: k.Expr, state: Any) -> k.Expr:
        """A scalar expression, arrays by their variables."""
        ...


def launched(
    r: Scalars, function: Function, stmt: h.Launch, args: tuple[h.Expr, ...], state: Any
) -> tuple[Extents | None, Extents | None, tuple[tuple[k.Expr, str], ...]]:
    """The grid and the block where the result depends on them, and what must hold of the launch else."""
    kernel = function.equations
    covers = stmt.grid and function.launch != "required"
    less = cover.short(r.host, stmt, kernel) if covers and kernel is not None else {}
    asked = kernel is not None and (kernel.of_launch or not lone(stmt, kernel))
    if stmt.grid is None or not (function.launch or less or asked):
        return None, None, ()
    needed = function.launch or less or kernel is None
    grid, block = (
        tuple(x if x == _ANY or (x == _UNTOLD and not needed) else r.scalar(x, state) for x in extents)
        for extents in (stmt.grid, stmt.block or ())
    )
    moving = _moving(r.host.body)
    alone = () if kernel is None else _alone(kernel, grid, block, moving, stmt.span)
    if function.launch == "required" or kernel is None:
        return grid, block, alone
    named = {p.name: a for p, a in zip(function.params, args, strict=False)}
    covering = _covering(kernel, less, named, grid, block)
    covering = [c for c in covering if not moving & {*expression_names(c[0])}]
    if function.launch:
        return grid, block, (*alone, *covering)
    return None, None, (*_demands(kernel, named, grid, block, stmt.span), *alone, *covering)


def lone(launch: h.Launch, kernel: eq.Kernel) -> bool:
    """Whether the launch says by a number that it has one block, or one thread, along the axes where it must."""
    ends = {"grid": launch.grid or (), "block": launch.block or ()}
    given = [ends[head][axis] for head, axis in kernel.alone if axis < len(ends[head])]
    return all(e == _ANY or (isinstance(e, k.Const) and e.value == 1) for e in given)


def _alone(
    kernel: eq.Kernel, grid: Extents, block: Extents, moving: set[str], span: Span | None
) -> tuple[tuple[k.Expr, str], ...]:
    """The conditions that a launch has no threads beside those that the kernel tells apart, where it changes arrays in
    place; raises Refused (KR201) where it has some."""
    open_: list[tuple[k.Expr, str]] = []
    for head, axis in kernel.alone:
        extents = grid if head == "grid" else block
        what = f"{'blocks' if head == 'grid' else 'threads of a block'} along {'xyz'[axis]}"
        if axis >= len(extents) or extents[axis] == _ANY:
            continue
        held = _folded(k.Op("le", (extents[axis], k.Const(1, INT32)), BOOL))
        if not isinstance(held, k.Const):
            if (moving | {_UNTOLD.name}) & {*expression_names(held)}:
                reason = f"{kernel.name} changes an array in place, and one of the {what} in each round is not known"
                raise refuse("KR201", reason, span, "launch one along this axis, or use its index in the kernel")
            open_.append((held, f"{kernel.name} does not tell the {what} apart: there must be one"))
        elif not held.value:
            reason = f"{kernel.name} changes an array in place and does not tell the {what} apart: they race"
            raise refuse("KR201", reason, span, "launch one along this axis, or use its index in the kernel")
    return tuple(open_)


def _covering(
    kernel: eq.Kernel, less: Iterable[tuple[eq.Param, eq.Expr]], args: dict[str, h.Expr], grid: Extents, block: Extents
) -> list[tuple[k.Expr, str]]:
    """That a launch has as many threads along the axes as the kernel's guards let through, where that can be said."""
    out: list[tuple[k.Expr, str]] = []
    for number, extent in less:
        try:
            along = [eq.Param(f"{head}.{'xyz'[n]}", INT32) for head, n in cover.extents(kernel, number)]
            ends = [_spelled(e, args, grid, block) for e in along]
            threads = reduce(lambda a, b: _folded(k.Op("mul", (a, b), INT32)), ends)
            wanted = _spelled(extent, args, grid, block)
        except _Unknown:
            continue
        held = k.Op("ge", (threads, wanted), BOOL)
        out.append((held, cover.fewer(kernel, number, extent)))
    return out


def _moving(body: tuple[h.Stmt, ...]) -> set[str]:
    """The names that rounds of loops bind."""
    found: set[str] = set()
    for s in body:
        match s:
            case h.For(var=var, body=inner):
                found |= {var} | set_within(inner)
            case h.While(body=inner):
                found |= set_within(inner)
            case _:
                for block in h.children(s):
                    found |= _moving(block)
    return found


def _demands(
    kernel: eq.Kernel, args: dict[str, h.Expr], grid: Extents, block: Extents, span: Span | None
) -> tuple[tuple[k.Expr, str], ...]:
    """The conditions that must hold of a launch, beside those that do; raises Refused (KR211) where one does not."""
    open_: list[tuple[k.Expr, str]] = []
    if kernel.one_row:
        block = (reduce(lambda a, b: _folded(k.Op("mul", (a, b), INT32)), block[: kernel.one_row]),) if block else ()
    for condition, text in kernel.of_launch:
        try:
            held = _spelled(condition, args, grid, block)
        except _Unknown:
            reason = f"{kernel.name} counts on this ({text}), which the launch does not tell"
            raise refuse("KR211", reason, span, "launch it with numbers, or with parameters of this function") from None
        if not isinstance(held, k.Const):
            open_.append((held, f"{kernel.name}: {text}"))
        elif not held.value and not _of_tile(condition):  # blocks of another size than the tile are warned of
            raise refuse(
                "KR211", f"{kernel.name} is launched otherwise: {text}", span, "see the docstring of the kernel"
            )
    return tuple(open_)


def _of_tile(condition: eq.Expr) -> bool:
    match condition:
        case eq.Op(name="eq", args=(eq.Param(name=name), eq.Const())):
            return name.startswith("block.")
    return False


def _spelled(e: eq.Expr, args: dict[str, h.Expr], grid: Extents, block: Extents) -> k.Expr:
    match e:
        case eq.Const(value=value):
            return k.Const(value, INT32)
        case eq.Param(name=name) if name.partition(".")[0] in ("grid", "block", "threads") and "." in name:
            head, _, letter = name.partition(".")
            axis = "xyz".index(letter)
            one = k.Const(1, INT32)
            ends = [x[axis] if axis < len(x) else one for x in (grid, block)]
            asked = ends if head == "threads" else [ends[head == "block"]]
            if _UNTOLD in asked:
                raise _Unknown
            return reduce(lambda a, b: _folded(k.Op("mul", (a, b), INT32)), asked)
        case eq.Param(name=name):
            given = args.get(name)
            if isinstance(given, k.Const | k.Var | k.Op | k.Cast | k.Shape):
                return given
        case eq.Shape(array=array, axis=axis):
            found = args.get(array)
            if isinstance(found, h.Whole) and found.offset is None and found.count is None:
                return k.Shape(found.array, axis)
        case eq.Cast(type=kind, arg=arg) if kind.is_integer:
            return _spelled(arg, args, grid, block)
        case eq.Op(name=name, args=parts) if name in _OPS and len(parts) == 2:
            pair = tuple(_spelled(a, args, grid, block) for a in parts)
            return _folded(k.Op(name, pair, INT32 if e.type.is_integer else e.type))
    raise _Unknown


def _folded(e: k.Op) -> k.Expr:
    values = [a.value for a in e.args if isinstance(a, k.Const) and isinstance(a.value, int)]
    return k.Const(_OPS[e.name](*values), e.type) if len(values) == 2 else e


__all__ = ["launched", "lone"]
