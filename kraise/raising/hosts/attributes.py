"""Attributes of a class that do nothing but configure launches (``self.blocks``), where no kernel looks at its launch.

The functions that the methods become take no parameters for them, and hand none on; ``__init__`` does not return them
where no method takes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_live import flat
from kraise.ir.host_names import expression_names, reads
from kraise.ir.types import NUMBER
from kraise.raising.hosts.effects import Function

_OPEN = k.Var("?", NUMBER)


def without_idle_attributes(hosts: tuple[h.Host, ...], functions: Mapping[str, Function]) -> tuple[h.Host, ...]:
    """The host functions without such parameters."""
    idle = {x.name: set(x.attributes) for x in hosts}
    if not any(idle.values()):
        return hosts
    by_name = {x.name: x for x in hosts}
    while True:
        before = sum(map(len, idle.values()))
        for host in hosts:
            for stmt in flat(host.body):
                idle[host.name] -= _used(stmt, functions, by_name, idle)
        if sum(map(len, idle.values())) == before:
            break
    taken: dict[str, set[str]] = {}
    for host in hosts:
        taken.setdefault(host.owner, set()).update(p for p in host.attributes if p not in idle[host.name])
    return tuple(_without(x, idle, by_name, functions, taken.get(x.owner, set())) for x in hosts)


def _free(stmt: h.Stmt, functions: Mapping[str, Function]) -> bool:
    """Is it a launch whose kernel does not look at it? Of one array twice another kernel is made, which may."""
    if not isinstance(stmt, h.Launch) or stmt.grid is None:
        return False
    arrays = [array for a in stmt.args for array in h.arrays_in(a)]
    function = functions.get(stmt.function)
    return function is not None and not (function.launch or function.shared) and len({*arrays}) == len(arrays)


def _must_be_one(stmt: h.Launch, functions: Mapping[str, Function]) -> frozenset[tuple[str, int]]:
    """The extents of such a launch that its kernel wants to be one."""
    kernel = functions[stmt.function].equations
    return frozenset(() if kernel is None else kernel.alone)


def _kept(stmt: h.Launch, functions: Mapping[str, Function]) -> tuple[tuple[k.Expr, ...], tuple[k.Expr, ...]]:
    """Its grid and its block, without what does not matter."""
    wanted = _must_be_one(stmt, functions)
    grid, block = (
        tuple(e if (head, axis) in wanted else _OPEN for axis, e in enumerate(extents or ()))
        for head, extents in (("grid", stmt.grid), ("block", stmt.block))
    )
    return (grid, block) if wanted else ((_OPEN,), (_OPEN,))


def _used(
    stmt: h.Stmt, functions: Mapping[str, Function], hosts: Mapping[str, h.Host], idle: Mapping[str, set[str]]
) -> set[str]:
    """The names that a statement reads for more than such launches."""
    match stmt:
        case h.Launch(args=args) if _free(stmt, functions):
            return set(expression_names(args, *_kept(stmt, functions))) - {_OPEN.name}
        case h.CallHost(function=name, args=args) if name in hosts:
            pairs = zip(hosts[name].params, args, strict=False)
            return {n for p, a in pairs if p.name not in idle[name] for n in expression_names(a)}
    return reads(stmt)


def _without(
    host: h.Host,
    idle: Mapping[str, set[str]],
    hosts: Mapping[str, h.Host],
    functions: Mapping[str, Function],
    taken: set[str],
) -> h.Host:
    gone = idle[host.name]

    def changed(stmt: h.Stmt) -> h.Stmt:
        match stmt:
            case h.Launch(grid=grid, block=block) if _free(stmt, functions) and gone & set(
                expression_names(grid, block)
            ):
                grid, block = _kept(stmt, functions)
                return replace(stmt, grid=grid, block=block)
            case h.CallHost(function=name, args=args) if name in hosts and idle[name]:
                names = [p.name for p in hosts[name].params]
                kept = tuple(a for n, a in enumerate(args) if n >= len(names) or names[n] not in idle[name])
                return replace(stmt, args=kept)
            case h.If(body=body, orelse=orelse):
                return replace(stmt, body=tuple(map(changed, body)), orelse=tuple(map(changed, orelse)))
            case h.For(body=body) | h.While(body=body):
                return replace(stmt, body=tuple(map(changed, body)))
            case h.Return(values=values) if host.state and len(values) == len(host.state):
                pairs = zip(host.state, values, strict=True)
                return replace(stmt, values=tuple(v for n, v in pairs if n in state))
        return stmt

    every = {n for x in hosts.values() if x.owner == host.owner for n in x.attributes}
    state = tuple(n for n in host.state if n in taken or n not in every)
    state = state or host.state
    params = tuple(p for p in host.params if p.name not in gone)
    body = tuple(map(changed, host.body))
    return replace(host, params=params, body=body, state=state, attributes=())
