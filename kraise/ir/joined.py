"""A function of Kernel IR with several array parameters as one: what a launch with one array for them all runs."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from kraise.ir import kernel as k
from kraise.ir.types import ArrayType, ScalarType


def joined(function: k.Function, groups: tuple[tuple[str, ...], ...], name: str) -> k.Function | None:
    """The function, called ``name``, with each group of parameters as its first; None where they are of two types."""
    types = {p.name: p.type for p in function.params}
    if any(not isinstance(types[n], ArrayType) or types[n] != types[g[0]] for g in groups for n in g):
        return None
    names = {n: g[0] for g in groups for n in g[1:]}
    params = tuple(p for p in function.params if p.name not in names)
    return replace(function, name=name, params=params, body=_renamed(function.body, names))


def _renamed(node: Any, names: dict[str, str]) -> Any:
    if isinstance(node, tuple):
        return tuple(_renamed(n, names) for n in node)
    if not is_dataclass(node) or isinstance(node, ScalarType | type):
        return node
    changed: dict[str, Any] = {}
    for f in fields(node):
        if f.name in ("span", "type"):
            continue
        old = getattr(node, f.name)
        new = names.get(old, old) if f.name == "array" else _renamed(old, names)
        if new is not old:
            changed[f.name] = new
    return replace(node, **changed) if changed else node
