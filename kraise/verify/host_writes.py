"""Which memory a host function may write, whatever its conditions are."""

from __future__ import annotations

from typing import Any

from kraise.ir import host as h
from kraise.verify.facts import Facts


def may_write(facts: Facts, host: h.Host) -> set[str]:
    """The names whose memory some order of the statements may write: names that are ever assigned to each other count
    as one."""
    groups: dict[str, set[str]] = {}
    written: set[str] = set()
    stack = list(host.body)
    while stack:
        stmt = stack.pop()
        stack.extend(s for block in h.children(stmt) for s in block)
        match stmt:
            case h.Point(names=names, sources=sources):
                for name, ref in zip(names, sources, strict=True):
                    others = ref.names if isinstance(ref, h.Chosen) else (ref.array,)
                    joined = groups.get(name, {name}).union(*(groups.get(other, {other}) for other in others))
                    for member in joined:
                        groups[member] = joined
            case h.Update(array=array) | h.Store(array=array):
                written.add(array)
            case h.Launch(function=function, args=args):
                params = facts.module.function(function).params
                stores = facts.written(function)
                pairs = zip(params, args, strict=False)
                structs = {p.name for p in params if any(s.startswith(f"{p.name}.") for s in stores)}
                written |= {array for p, a in pairs if p.name in {*stores, *structs} for array in h.arrays_in(a)}
            case h.CallHost(function=function, args=args):
                callee: Any = facts.module.function(function)
                inner = may_write(facts, callee)
                pairs = zip(callee.params, args, strict=False)
                written |= {array for p, a in pairs if p.name in inner for array in h.arrays_in(a)}
    return {m for w in written for m in groups.get(w, {w})}


def one_place(state: Any, a: h.Whole, b: h.Whole) -> bool:
    """Whether two pointers point to one element of one piece of memory."""
    first, second = (state.pointer(p.array, p.span) for p in (a, b))
    starts = [
        at.offset + (int(state.number(p.offset)) if p.offset is not None else 0) for at, p in ((first, a), (second, b))
    ]
    return first.memory is second.memory and starts[0] == starts[1]
