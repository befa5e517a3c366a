"""Launches of the host interpreter: the interpreter of Kernel IR on the memory that the arguments point to."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.dynamic_shared import element_bytes
from kraise.ir.joined import joined
from kraise.ir.types import NUMBER, ArrayType
from kraise.verify import interpreter
from kraise.verify.duals import Dual, dual, plain
from kraise.verify.errors import InterpreterError

if TYPE_CHECKING:
    from kraise.verify.hosts import Host, Memory

_OPEN = k.Var("?", NUMBER)


def _together(back: dict[str, tuple[Memory, Any]], written: Any) -> tuple[tuple[str, ...], ...]:
    """The parameters that are one and the same memory, where the launch writes to it."""
    places: dict[Any, list[str]] = {}
    for name, (memory, where) in back.items():
        places.setdefault((id(memory), repr(where)), []).append(name)
    return tuple(tuple(g) for g in places.values() if len(g) > 1 and set(g) & set(written))


def _any_launch(module: k.Module, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A launch that covers what the kernel's guards let through, where the host leaves it to its caller."""
    from kraise.verify.launches import covering, prober, used_axes

    axes = used_axes(module, module.function(name))
    x, y, z = (4 if axis in axes else 1 for axis in range(3))
    found = covering(axes, (x, y, z), prober(module, name, arguments, None))
    if found is None:
        raise InterpreterError(f"no launch of {name} was found that covers its guarded range")
    return {"grid": found[0], "block": (x, y, z)}


def _start(where: Any) -> int:
    return where.start if isinstance(where, slice) else 0


def _apart(given: dict[str, Any], duals: dict[str, Any], back: dict[str, tuple[Memory, Any]], written: Any) -> None:
    """Parts of one memory that are given together end where the next of them begins: what reaches beyond its part is
    an access out of bounds then."""
    for name, (memory, where) in list(back.items()):
        others = {n: _start(w) for n, (m, w) in back.items() if m is memory}
        if not set(others) & set(written) or name not in given or np.ndim(given[name]) != 1:
            continue
        behind = [s for s in others.values() if s > _start(where)]
        if not behind:
            continue
        length = min(behind) - _start(where)
        back[name] = memory, slice(_start(where), min(behind))
        given[name] = given[name][:length]
        if name in duals:
            duals[name] = duals[name][:, :length]


def _meets(back: dict[str, tuple[Memory, Any]], one: str, two: str) -> bool:
    """Do two parts of one memory meet?"""
    (first, second) = sorted((back[one][1], back[two][1]), key=_start)
    stop = first.stop if isinstance(first, slice) else None
    return stop is None or stop > _start(second)


def launch(host: Host, stmt: h.Launch) -> None:
    """A launch on the memory that its arguments point to."""
    try:
        function = host.module.function(stmt.function)
    except KeyError:
        raise InterpreterError(f"there is no function {stmt.function}", stmt.span) from None
    given: dict[str, Any] = {}
    duals: dict[str, np.ndarray] = {}
    back: dict[str, tuple[Memory, Any]] = {}
    for param, argument in zip(function.params, stmt.args, strict=False):
        if isinstance(argument, k.ArrayRef):
            at = host.pointer(argument.array, argument.span)
            start = at.offset + (int(host.number(argument.offset)) if argument.offset is not None else 0)
            where: Any = slice(start, None) if start else ...
            data = at.memory.data[where]
            rank = param.type.ndim if isinstance(param.type, ArrayType) else data.ndim
            given[param.name] = data.reshape(-1) if rank == 1 and data.ndim != 1 else data
            if argument.rows:
                given[param.name] = data.reshape(-1, *(int(host.number(x)) for x in argument.rows))
            if at.memory.tangents is not None:
                t = at.memory.tangents[(slice(None), where)]
                duals[param.name] = t.reshape(t.shape[0], *given[param.name].shape)
            back[param.name] = at.memory, where
            continue
        if isinstance(argument, h.Structs):
            given[param.name] = {}
            for (member, _), ref in zip(argument.struct.members, argument.members, strict=True):
                if not isinstance(ref, k.ArrayRef):
                    number = host.scalar(ref)
                    given[param.name][member] = plain(number)
                    if type(number) is Dual:
                        duals[f"{param.name}.{member}"] = number.tangents.reshape(-1)
                    continue
                at = host.pointer(ref.array, ref.span)
                start = at.offset + (int(host.number(ref.offset)) if ref.offset is not None else 0)
                where = slice(start, None) if start else ...
                path = f"{param.name}.{member}"
                given[param.name][member] = at.memory.data[where]
                if at.memory.tangents is not None:
                    duals[path] = at.memory.tangents[(slice(None), where)]
                back[path] = at.memory, where
            continue
        if isinstance(argument, h.Record):
            given[param.name] = {}
            for (member, _), value in zip(argument.struct.members, argument.members, strict=True):
                number = host.scalar(value)
                given[param.name][member] = plain(number)
                if type(number) is Dual:
                    duals[f"{param.name}.{member}"] = number.tangents.reshape(-1)
            continue
        found = host.scalar(argument)
        given[param.name] = plain(found)
        if type(found) is Dual:
            duals[param.name] = found.tangents.reshape(-1)
    written = host.facts.written(stmt.function)
    module, called = host.module, stmt.function
    groups = _together(back, written)
    if groups:
        made = joined(function, groups, called)
        if made is None:
            raise InterpreterError(f"{called} takes one array as two of different types", stmt.span)
        module = replace(module, functions=tuple(made if f is function else f for f in module.functions))
        leading = {n: g[0] for g in groups for n in g}
        written = frozenset(leading.get(n, n) for n in written)
        for name in [n for n in back if leading.get(n, n) != n]:
            del given[name], back[name]
            duals.pop(name, None)
    _apart(given, duals, back, written)
    for name in written:
        same = [
            o
            for o, (m, _) in back.items()
            if o != name and name in back and m is back[name][0] and _meets(back, o, name)
        ]
        if same:
            raise InterpreterError(f"{stmt.function} writes {name}, which is {same[0]} too", stmt.span)
    shape: dict[str, Any] = {}
    if stmt.grid is not None and stmt.block is not None and function.kind == "kernel":
        shape = _any_launch(module, called, given) if _OPEN in stmt.grid else {
            "grid": tuple(int(host.number(x)) for x in stmt.grid),
            "block": tuple(int(host.number(x)) for x in stmt.block),
        }  # fmt: skip
        if stmt.shared is not None and (bytes_ := int(host.number(stmt.shared))):
            shape["shared"] = bytes_ // element_bytes(function)
        if math.prod(shape["grid"]) <= 0:
            raise InterpreterError(f"{stmt.function} is launched with the grid {shape['grid']}", stmt.span)
    if host.directions and not duals:
        first = next((n for n, v in given.items() if np.asarray(v).dtype.kind in "fcV"), None)
        if first is not None:
            duals[first] = np.zeros((host.directions, *np.shape(given[first])))
    done = interpreter.run(module, called, given, duals=duals or None, **shape, **host.options)
    host.races += done.races
    host.ties += done.ties
    for name in written:
        memory, where = back[name]
        result = done.arrays[name].astype(memory.data.dtype, copy=False)
        memory.data[where] = result.reshape(memory.data[where].shape)
        if memory.tangents is not None and name in done.tangents:
            place = (slice(None), where)
            memory.tangents[place] = done.tangents[name].reshape(memory.tangents[place].shape)
        if memory.param:
            host.written.add(memory.param)
    for n, name in enumerate(stmt.results):
        tangents = done.returned_tangents[n] if done.returned_tangents else None
        host.scalars[name] = dual(done.returned[n], tangents) if tangents is not None else done.returned[n]
