"""Parts of arrays as arguments of a launch in a Python host function (``k[g, b](d[3:10])``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from kraise.frontends.python import host_values as values
from kraise.frontends.python.host_scope import HostScope, launched
from kraise.frontends.python.source import dotted
from kraise.ir import host as h
from kraise.ir.host_live import Memory, stored

if TYPE_CHECKING:
    from kraise.frontends.python.host import Reader


def named(reader: Reader, call: cst.Call) -> tuple[list[h.Stmt], list[h.Stmt], cst.Call]:
    """``k[g, b](d[3:10])``: the elements get a name before the launch, and go back to their place after it.

    Side condition, checked when the function is read: no other argument of the launch sees the array.
    """
    scope = reader.scope
    before: list[h.Stmt] = []
    after: list[h.Stmt] = []
    args = list(call.args)
    function = scope.functions.get(launched(scope, call))
    written = stored(function) if function is not None else ()
    for at, a in enumerate(args):
        node = a.value
        piece = values.part(scope, node) if isinstance(node, cst.Subscript) else None
        if not isinstance(node, cst.Subscript) or not scope.is_array(node) or dotted(node.value) not in scope.arrays:
            continue
        if piece is not None and piece.count is None:
            continue  # from a place on: the launch takes it as it is
        whose = dotted(node.value)
        own = scope.fresh(f"{whose.replace('.', '_')}_part")
        scope.arrays.add(own)
        before.append(h.Bind(own, values.value(scope, node), span=scope.span(node)))
        if at >= len(written) or written[at]:
            after += reader.store(node, h.Whole(own), node)
        others = {n for n in (base(x.value) for x in args if x is not a) if n in scope.arrays}
        scope.apart.append((whose, frozenset(others), node))
        args[at] = a.with_changes(value=cst.Name(own))
    if not before:
        return before, after, call
    changed = call.with_changes(args=args)
    scope.source.positions.setdefault(changed, scope.source.positions.get(call))
    return before, after, changed


def check_apart(scope: HostScope, body: tuple[h.Stmt, ...]) -> None:
    """Refuses a launch that gets a part of an array and, under another name, that array."""
    memory = Memory(body)
    for whose, others, where in scope.apart:
        if memory(whose) in map(memory, others):
            raise scope.refuse(where, f"another argument of this launch may see {whose} too", "copy the part first")


def base(node: cst.BaseExpression) -> str:
    """``d`` of ``d``, ``d[3:]``, ``d.T``, ``d.reshape(-1)``."""
    while not dotted(node) or (isinstance(node, cst.Attribute) and node.attr.value == "T"):
        match node:
            case cst.Subscript(value=inner) | cst.Attribute(value=inner) | cst.Call(func=inner):
                node = inner
            case _:
                return ""
    name = dotted(node)
    return name.rpartition(".")[0] if name.rpartition(".")[2] in ("reshape", "ravel", "view") else name
