"""Names in Host IR: what a statement reads and sets, and which names matter at a place (liveness)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass

from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import ScalarType


def expression_names(*nodes: object) -> Iterator[str]:
    """The scalars and arrays that expressions mention."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        match node:
            case None | str() | ScalarType() | bool() | int() | float():
                continue
            case tuple():
                stack.extend(node)
                continue
            case k.Var(name=name):
                yield name
            case k.Load(array=name) | k.Shape(array=name) | k.ArrayRef(array=name) | h.Whole(array=name):
                yield name
            case h.Chosen(names=names):
                yield from names
        if is_dataclass(node):
            stack.extend(getattr(node, f.name) for f in fields(node) if f.name not in ("span", "type", "name"))


def reads(stmt: h.Stmt) -> set[str]:
    """The names that a statement itself reads, its blocks left out; memory that is changed in part is read."""
    match stmt:
        case h.Alloc(shape=shape, fill=fill, like=like):
            return set(expression_names(shape, fill)) | ({like} if like else set())
        case h.Update(array=array, value=value, offset=offset, count=count):
            return {array, *expression_names(value, offset, count)}
        case h.Store(array=array, subscripts=subscripts, value=value):
            return {array, *expression_names(subscripts, value)}
        case h.Launch(args=args, grid=grid, block=block, shared=shared):
            return set(expression_names(args, grid, block, shared))
        case h.CallHost(args=args):
            return set(expression_names(args))
        case h.For(start=start, stop=stop, step=step, condition=condition):
            return set(expression_names(start, stop, step, condition))
        case h.While(condition=condition) | h.If(condition=condition):
            return set(expression_names(condition))
        case h.Point(sources=sources):
            return set(expression_names(sources))
        case h.Assign(value=value) | h.Bind(value=value):
            return set(expression_names(value))
        case h.Return(values=values):
            return set(expression_names(values))
    return set()


def sets(stmt: h.Stmt) -> set[str]:
    """The names that a statement itself binds (memory that it changes has no name of its own)."""
    match stmt:
        case h.Assign(name=name) | h.Alloc(name=name) | h.Bind(name=name) | h.For(var=name):
            return {name}
        case h.Point(names=names) | h.Launch(results=names) | h.CallHost(results=names):
            return set(names)
    return set()


def set_within(body: Iterable[h.Stmt]) -> set[str]:
    """The names that a block binds, its inner blocks included."""
    found: set[str] = set()
    for stmt in body:
        found |= sets(stmt)
        for block in h.children(stmt):
            found |= set_within(block)
    return found


def read_within(body: Iterable[h.Stmt]) -> set[str]:
    """The names that a block reads, its inner blocks included."""
    found: set[str] = set()
    for stmt in body:
        found |= reads(stmt)
        for block in h.children(stmt):
            found |= read_within(block)
    return found


def live_before(body: tuple[h.Stmt, ...], after: frozenset[str]) -> frozenset[str]:
    """The names whose value before ``body`` matters, where ``after`` are those that matter after it."""
    live = after
    for stmt in reversed(body):
        match stmt:
            case h.If(body=then, orelse=orelse):
                live = live_before(then, live) | live_before(orelse, live) | reads(stmt)
            case h.For(var=var, body=inner):
                live = (live | live_before(inner, live | live_before(inner, live)) - {var}) | reads(stmt)
            case h.While(body=inner):
                live = live | reads(stmt)
                live = live | live_before(inner, live | live_before(inner, live))
            case _:
                live = live - sets(stmt) | reads(stmt)
    return frozenset(live)


def fresh(taken: set[str], wish: str) -> str:
    """``wish``, or with a number behind it the first name that a function does not have; it is ``taken`` then."""
    name, number = wish, 2
    while name in taken:
        name, number = f"{wish}_{number}", number + 1
    taken.add(name)
    return name


def breaks(body: tuple[h.Stmt, ...]) -> bool:
    """Does a break of this loop stand in the block?"""
    return any(isinstance(s, h.Break) or (isinstance(s, h.If) and (breaks(s.body) or breaks(s.orelse))) for s in body)
