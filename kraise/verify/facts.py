"""What the interpreter needs to know of a function before it runs: parameters laid flat, names written, suspension."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache

from kraise.ir import kernel as k
from kraise.ir.types import ArrayType, ScalarType, StructType, Type


@dataclass(frozen=True)
class Slot:
    """A parameter, or one member of a struct parameter: ``path`` is its dotted name, ``ndim`` None for a scalar;
    ``tail`` are the extents of the last axes where the type fixes them."""

    path: str
    element: ScalarType
    ndim: int | None
    by_reference: bool = False
    tail: tuple[int, ...] = ()


def slots(param: k.Param) -> tuple[Slot, ...]:
    """The scalars and arrays that a parameter stands for, in declared order."""
    return tuple(_slots(param.name, param.type, None, param.by_reference))


def _slots(path: str, t: Type, outer: int | None, by_reference: bool) -> Iterator[Slot]:
    match t:
        case ScalarType():
            yield Slot(path, t, outer, by_reference and outer is None)
        case ArrayType():
            yield Slot(path, t.element, t.ndim + (outer or 0), tail=t.tail)
        case StructType():
            axes = (outer or 0) + 1 if t.is_array else outer
            for name, member in t.members:
                yield from _slots(f"{path}.{name}", member, axes, by_reference)


def flat_params(function: k.Function) -> tuple[Slot, ...]:
    """All slots of a function's parameters, in order."""
    return tuple(slot for param in function.params for slot in slots(param))


def walk(node: object) -> Iterator[object]:
    """Every IR node under ``node``, itself included."""
    stack = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            stack.extend(reversed(item))
        elif (names := _members(type(item))) is not None:  # type: ignore[arg-type]
            yield item
            stack.extend([getattr(item, name) for name in names])


@cache
def _members(kind: type) -> tuple[str, ...] | None:
    """The fields of a kind of node under which others may be, the last first; None for what is no node."""
    if not is_dataclass(kind) or kind is ScalarType:
        return None
    return tuple(f.name for f in reversed(fields(kind)) if f.name not in ("span", "type"))


def assigned_names(function: k.Function) -> frozenset[str]:
    """Local scalars that some statement of the function assigns."""
    names: set[str] = set()
    for node in walk(function.body):
        match node:
            case k.Assign(name=name) | k.For(var=name):
                names.add(name)
            case k.Atomic(result=name) if name:
                names.add(name)
            case k.CallStmt(results=results):
                names.update(results)
            case _:
                pass
    return frozenset(names)


class Facts:
    """Facts of a module's functions that pass through their calls."""

    def __init__(self, module: k.Module):
        self.module = module
        self.functions = {f.name: f for f in module.functions}
        self._suspends: dict[tuple[str, str], bool] = {}
        self._written: dict[str, frozenset[str]] = {}

    def calls(self, function: k.Function) -> Iterator[k.Call | k.CallStmt]:
        """The function's calls of functions of the module."""
        for node in walk(function.body):
            if isinstance(node, k.Call | k.CallStmt) and node.function in self.functions:
                yield node

    def suspends(self, name: str, scope: str = "") -> bool:
        """Can a thread wait in this function (with ``scope``: at a barrier of that scope)?"""
        key = (name, scope)
        if key not in self._suspends:
            self._suspends[key] = False  # a recursive call adds nothing
            function = self.functions[name]
            self._suspends[key] = any(
                (isinstance(node, k.Barrier) and scope in ("", node.scope)) or (isinstance(node, k.Warp) and not scope)
                for node in walk(function.body)
            ) or any(self.suspends(call.function, scope) for call in self.calls(function))
        return self._suspends[key]

    def written(self, name: str) -> frozenset[str]:
        """Paths of the array parameters that the function may write, itself or by a call."""
        if name not in self._written:
            self._written[name] = frozenset()
            function = self.functions[name]
            arrays = {slot.path for slot in flat_params(function) if slot.ndim is not None}
            found = {n.array for n in walk(function.body) if isinstance(n, k.Store | k.Atomic)}
            for call in self.calls(function):
                callee = self.functions[call.function]
                inner = self.written(call.function)
                for param, argument in zip(callee.params, call.args, strict=False):
                    base = argument.array if isinstance(argument, k.ArrayRef) else getattr(argument, "name", "")
                    for slot in slots(param):
                        if slot.path in inner:
                            found.add(base + slot.path[len(param.name) :])
            self._written[name] = frozenset(found & arrays)
        return self._written[name]
