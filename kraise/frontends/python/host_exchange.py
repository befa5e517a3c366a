"""Exchanges of elements and rows in Python host functions: ``a[0], a[1] = a[1], a[0]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from kraise.ir import host as h

if TYPE_CHECKING:
    from kraise.frontends.python.host_assign import Assignments


def exchanged(reader: Assignments, target: cst.Tuple, value: cst.Tuple, node: cst.CSTNode) -> list[h.Stmt]:
    """``a[0], a[1] = a[1], a[0]``: the values get names first."""
    scope = reader.scope
    if any(isinstance(e.value, cst.Tuple | cst.List) for t in (target, value) for e in t.elements):
        raise scope.refuse(node, "this assignment is not known in a host function")
    out: list[h.Stmt] = []
    held: list[cst.Name] = []
    for e in value.elements:
        own = cst.Name(scope.fresh("held"))
        scope.source.positions.setdefault(own, scope.source.positions[e.value])
        if scope.is_array(e.value):
            scope.arrays.add(own.value)
        if isinstance(e.value, cst.Call) and isinstance(e.value.func, cst.Attribute) and not e.value.args:
            scope.copies |= {own.value} if e.value.func.attr.value == "copy" else set()
        out += [*scope.pending, *reader.assign(own, e.value, node)]
        scope.pending = []
        held.append(own)
    return out + [s for t, n in zip(target.elements, held, strict=True) for s in reader.assign(t.value, n, node)]
