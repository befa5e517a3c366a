"""Other names for the arrays and numbers of Kernel IR, of Host IR and of raised host functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.rewrite import parts_of, walked

_OF = {
    **{k.Var: ("name",), k.Load: ("array",), k.Shape: ("array",), k.ArrayRef: ("array",), h.Whole: ("array",)},
    **{k.Assign: ("name",), k.Store: ("array",), k.Atomic: ("array", "result"), k.For: ("var",)},
    **{k.LocalArray: ("name", "like"), k.CallStmt: ("results",)},
    **{h.Chosen: ("names",), h.Assign: ("name",), h.Alloc: ("name", "like"), h.Bind: ("name",), h.Update: ("array",)},
    **{h.Store: ("array",), h.Point: ("names",), h.Launch: ("results",), h.CallHost: ("results",), h.For: ("var",)},
    **{o.New: ("like",), o.Put: ("base",), o.Rotated: ("variables",), o.Let: ("targets",), o.Branch: ("names",)},
    o.Loop: ("names", "nexts", "var", "unused"),
}


def renamed(node: Any, names: Mapping[str, str]) -> Any:
    """A statement, an expression or a tuple of them with other names: ``names`` maps old to new, all at once."""
    return with_names(node, lambda name: names.get(name, name))


def with_names(node: Any, new: Callable[[str], str]) -> Any:
    """The same with the ``new`` name for each."""
    if isinstance(node, tuple):
        return tuple(with_names(n, new) for n in node)
    own = _OF.get(type(node), ())
    changed: dict[str, Any] = {}
    for field in _parts(node):
        old = getattr(node, field)
        now = _each(old, new) if field in own else with_names(old, new)
        if now != old:
            changed[field] = now
    return replace(node, **changed) if changed else node


def names_in(node: Any) -> set[str]:
    """All of these names in a statement, an expression or a tuple of them."""
    own = (getattr(n, field) for n in walked(node) for field in _OF.get(type(n), ()))
    return {name for names in own for name in ((names,) if isinstance(names, str) else names)}


def _parts(node: Any) -> tuple[str, ...]:
    kind: type = type(node)
    return parts_of(kind) or ()


def _each(names: Any, new: Callable[[str], str]) -> Any:
    return new(names) if isinstance(names, str) else type(names)(map(new, names))


def within(node: Any, wanted: Any) -> list[Any]:
    """The nodes of a kind in statements and expressions, in order."""
    found, stack = [], [node]
    while stack:
        top = stack.pop()
        if isinstance(top, tuple):
            stack += top[::-1]
            continue
        if isinstance(top, wanted):
            found.append(top)
        stack += [getattr(top, field) for field in _parts(top)[::-1]]
    return found
