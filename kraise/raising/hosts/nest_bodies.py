"""A kernel's statements as those of a loop over its threads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from kraise.ir import kernel as k
from kraise.ir.rename import renamed
from kraise.ir.types import ScalarType
from kraise.raising.threads.spelled import integer

_PLAIN = (k.Assign, k.Store, k.If, k.For, k.While, k.Break, k.Continue, k.Return)


class NoNest(Exception):
    """A loop over launches is no nest that comes out as a loop over rows."""


def nodes(node: Any) -> Iterator[Any]:
    stack = [node]
    while stack:
        top = stack.pop()
        if isinstance(top, tuple):
            stack.extend(top)
        elif is_dataclass(top) and not isinstance(top, ScalarType | type):
            yield top
            stack.extend(getattr(top, f.name) for f in fields(top) if f.name not in ("span", "type"))


def assigned(body: tuple[k.Stmt, ...]) -> set[str]:
    """The locals that statements set."""
    found = list(nodes(body))
    return {n.name for n in found if isinstance(n, k.Assign)} | {n.var for n in found if isinstance(n, k.For)}


def without_copy(body: tuple[k.Stmt, ...], var: str) -> tuple[tuple[k.Stmt, ...], str]:
    """The statements with the local that is the thread's number as the loop's index, and its name."""
    for at, s in enumerate(body):
        if (
            isinstance(s, k.Assign)
            and isinstance(v := integer(s.value), k.Var)
            and v.name == var
            and s.type.kind == "int"
        ):
            rest = (*body[:at], *body[at + 1 :])
            if s.name not in assigned(rest):
                return renamed(rest, {var: s.name}), s.name
    return body, var


def continued(body: tuple[k.Stmt, ...], inside: bool = False) -> tuple[k.Stmt, ...]:
    """A thread that returns has no more to do in this round. Raises NoNest."""
    out: list[k.Stmt] = []
    for s in body:
        if not isinstance(s, _PLAIN) or (isinstance(s, k.Return) and inside):
            raise NoNest
        match s:
            case k.Return():
                out.append(k.Continue(span=s.span))
            case k.If(body=one, orelse=other):
                out.append(replace(s, body=continued(one, inside), orelse=continued(other, inside)))
            case k.For(body=inner) | k.While(body=inner):
                out.append(replace(s, body=continued(inner, True)))
            case _:
                out.append(s)
    return tuple(out)


def numbered(node: Any, threads: dict[int, str]) -> Any:
    """The number of a thread in the grid, ``block * blockDim + thread``, as the index of a loop."""
    if isinstance(node, tuple):
        return tuple(numbered(n, threads) for n in node)
    if not is_dataclass(node) or isinstance(node, ScalarType | type):
        return node
    axis = _in_grid(node)
    if axis is not None and axis in threads:
        return k.Var(threads[axis], node.type, span=node.span)  # type: ignore[attr-defined]
    changed = {f.name: numbered(getattr(node, f.name), threads) for f in fields(node) if f.name not in ("span", "type")}
    return replace(node, **changed)


def _in_grid(e: Any) -> int | None:
    match e:
        case k.Op(name="add", args=(a, b)):
            for first, thread in ((integer(a), integer(b)), (integer(b), integer(a))):
                if (
                    isinstance(first, k.Op)
                    and first.name == "mul"
                    and isinstance(thread, k.Hw)
                    and thread.kind == "thread"
                ):
                    kinds = {(x.kind, x.axis) for x in map(integer, first.args) if isinstance(x, k.Hw)}
                    if kinds == {("block", thread.axis), ("blockDim", thread.axis)}:
                        return thread.axis
    return None
