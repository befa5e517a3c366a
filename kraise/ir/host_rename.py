"""Other names for the arrays and numbers of Host IR."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import ScalarType

_OF = {
    **{k.Var: ("name",), k.Load: ("array",), k.Shape: ("array",), k.ArrayRef: ("array",), h.Whole: ("array",)},
    **{h.Chosen: ("names",), h.Assign: ("name",), h.Alloc: ("name", "like"), h.Bind: ("name",), h.Update: ("array",)},
    **{h.Store: ("array",), h.Point: ("names",), h.Launch: ("results",), h.CallHost: ("results",), h.For: ("var",)},
}


def renamed(node: Any, names: Mapping[str, str]) -> Any:
    """A statement, an expression or a tuple of them with other names: ``names`` maps old to new, all at once."""
    if isinstance(node, tuple):
        return tuple(renamed(n, names) for n in node)
    if not is_dataclass(node) or isinstance(node, ScalarType | type):
        return node
    own = _OF.get(type(node), ())
    changed: dict[str, Any] = {}
    for f in fields(node):
        if f.name in ("span", "type", "types", "element"):
            continue
        old = getattr(node, f.name)
        if f.name in own:
            new = tuple(names.get(n, n) for n in old) if isinstance(old, tuple) else names.get(old, old)
        else:
            new = renamed(old, names)
        if new != old:
            changed[f.name] = new
    return replace(node, **changed) if changed else node


def within(node: Any, wanted: type) -> list[Any]:
    """The nodes of a kind in statements and expressions, in order."""
    if isinstance(node, tuple):
        return [x for n in node for x in within(n, wanted)]
    if not is_dataclass(node) or isinstance(node, ScalarType | type):
        return []
    found = [node] if isinstance(node, wanted) else []
    return found + [x for f in fields(node) if f.name != "span" for x in within(getattr(node, f.name), wanted)]
