"""Kernels whose own parameters are called like the launch's keywords of the emitted function."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from kraise.ir import kernel as k
from kraise.ir.types import ScalarType, StructType

KEYWORDS = ("grid", "block", "threads")
_OF = {
    **{k.Var: ("name",), k.Load: ("array",), k.Shape: ("array",), k.ArrayRef: ("array",), k.Assign: ("name",)},
    **{k.Store: ("array",), k.Atomic: ("array", "result"), k.For: ("var",), k.LocalArray: ("name", "like")},
    **{k.CallStmt: ("results",), k.Param: ("name",), k.Function: ("static",)},
}


def with_underscores(module: k.Module, function: k.Function, launched: bool) -> tuple[k.Module, k.Function]:
    """The function, in its module, with an underscore to such names (``grid_``): where the emitted function has these
    keywords (``launched``), and of structs, whose members are called as what the launch says (``grid.x``).

    A name that the function has already stays, and so does what clashes with it.
    """
    taken = {getattr(n, f) for n in _walked(function) for f in _OF.get(type(n), ()) if isinstance(getattr(n, f), str)}
    structs = {p.name for p in function.params if isinstance(p.type, StructType)}
    names = [p.name for p in function.params if p.name in (KEYWORDS[:2] if launched else ()) or p.name in structs]
    wanted = {n: f"{n}_" for n in names if n in KEYWORDS and f"{n}_" not in taken}
    if function.kind != "kernel" or not wanted:
        return module, function
    new = _renamed(function, wanted)
    new = replace(new, multiples=tuple((_name(n, wanted), by) for n, by in function.multiples))
    return replace(module, functions=tuple(new if f is function else f for f in module.functions)), new


def _name(name: str, names: dict[str, str]) -> str:
    head, dot, rest = name.partition(".")
    return names.get(head, head) + dot + rest


def _renamed(node: Any, names: dict[str, str]) -> Any:
    if isinstance(node, tuple):
        return tuple(_renamed(n, names) for n in node)
    if not is_dataclass(node) or isinstance(node, ScalarType | StructType | type):
        return node
    own = _OF.get(type(node), ())
    changed: dict[str, Any] = {}
    for f in fields(node):
        old = getattr(node, f.name)
        if f.name in ("span", "type", "types", "element") or old is None:
            continue
        if f.name in own:
            new = tuple(_name(n, names) for n in old) if isinstance(old, tuple) else _name(old, names)
        else:
            new = _renamed(old, names)
        if new != old:
            changed[f.name] = new
    return replace(node, **changed) if changed else node


def _walked(node: Any) -> list[Any]:
    if isinstance(node, tuple):
        return [x for n in node for x in _walked(n)]
    if not is_dataclass(node) or isinstance(node, ScalarType | StructType | type):
        return []
    return [node, *(x for f in fields(node) if f.name not in ("span", "type") for x in _walked(getattr(node, f.name)))]


__all__ = ["with_underscores"]
