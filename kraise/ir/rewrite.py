"""The nodes of Kernel IR and Host IR: all of them, and the same with some of them replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from kraise.ir.types import ScalarType


def rewritten(x: Any, visit: Callable[[Any], Any | None]) -> Any:
    """``x`` (a node, or a tuple of nodes) with what ``visit`` gives in place of a node; None leaves it to its parts,
    and a tuple in place of a node among others is as many nodes."""
    if isinstance(x, tuple):
        pairs = [(i, rewritten(i, visit)) for i in x]
        if all(a is b for a, b in pairs):
            return x
        return tuple(n for a, b in pairs for n in (b if isinstance(b, tuple) and not isinstance(a, tuple) else (b,)))
    parts = parts_of(type(x))  # type: ignore[arg-type]
    if parts is None:
        return x
    found = visit(x)
    if found is not None:
        return found
    changes = {}
    for name in parts:
        old = getattr(x, name)
        new = rewritten(old, visit)
        if new is not old:
            changes[name] = new
    return replace(x, **changes) if changes else x


def walked(x: object) -> Iterator[object]:
    """The nodes of Kernel IR or Host IR in ``x``: a node before those below it, the last ones first."""
    kind: type = x.__class__
    if isinstance(x, tuple | list):
        for item in reversed(x):
            yield from walked(item)
    elif (names := _below(kind)) is not None:
        yield x
        kept = getattr(x, "__dict__", None)
        known = None if kept is None else kept.get(_WALKED)
        if known is None:  # asked again and again of one statement
            known = tuple(_walked([getattr(x, name) for name in names]))
            if kept is not None:
                kept[_WALKED] = known
        yield from known


_WALKED = "nodes below"  # no name of a field


def _walked(stack: list[object]) -> Iterator[object]:
    while stack:
        top = stack.pop()
        kind: type = top.__class__
        if kind is tuple or kind is list:
            stack.extend(top)  # type: ignore[arg-type]
            continue
        names = _below(kind)
        if names is not None:
            yield top
            stack.extend([getattr(top, name) for name in names])
        elif isinstance(top, tuple | list):
            stack.extend(top)


@cache
def _below(kind: type) -> tuple[str, ...] | None:
    """The fields of a class of nodes that are walked; None where it is no such class."""
    names = getattr(kind, "__dataclass_fields__", None)
    return None if names is None else tuple(name for name in names if name not in ("span", "type"))


@cache
def parts_of(kind: type) -> tuple[str, ...] | None:
    """The fields of a class of nodes that may hold nodes; None where it is no such class."""
    if not is_dataclass(kind) or kind is ScalarType:
        return None
    return tuple(f.name for f in fields(kind) if f.name not in ("span", "type"))


__all__ = ["parts_of", "rewritten", "walked"]
