"""What the integer arrays of a host function are used as by what it launches, through copies and other names."""

from __future__ import annotations

from collections import defaultdict

from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.verify.facts import walk
from kraise.verify.launches import reached
from kraise.verify.roles import find_roles


def row_pointers(source: k.Module, host: h.Host, around: frozenset[str] = frozenset()) -> frozenset[str]:
    """The parameters (without regard to order) whose values bound loops of what the function calls: no entry of theirs
    is less than the one before. ``around`` are the host functions that called this one."""
    alike: dict[str, set[str]] = defaultdict(set)
    found: set[str] = set()
    for node in walk(host.body):
        match node:
            case h.Bind(name=name, value=h.Whole(array=other)) | h.Update(array=name, value=h.Whole(array=other)):
                alike[name].add(other)
            case h.Point(names=names, sources=sources):
                for name, of in zip(names, sources, strict=True):
                    alike[name] |= {of.array} if isinstance(of, k.ArrayRef) else {*of.names}
            case h.Launch(function=called, args=args) | h.CallHost(function=called, args=args):
                function = source.function(called)
                bounds = _bounds(source, function, around | {host.name})
                for param, arg in zip(function.params, args, strict=False):
                    if param.name in bounds and isinstance(arg, k.ArrayRef):
                        found.add(arg.array)
    while more := {n for a in found for n in alike[a]} - found:
        found |= more
    return frozenset(p.name for p in host.params if p.name in found)


def _bounds(source: k.Module, function: k.Function | h.Host, around: frozenset[str]) -> frozenset[str]:
    if not isinstance(function, h.Host):
        return find_roles(source, reached(source, function), function).bounds
    return frozenset() if function.name in around else row_pointers(source, function, around)


__all__ = ["row_pointers"]
