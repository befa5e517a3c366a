"""Names that stand for part of an array (``row = a[i]``), and when they no longer do."""

from __future__ import annotations

from collections import Counter

import libcst as cst

from kraise.frontends.python import expressions as ex
from kraise.frontends.python.scope import Scope
from kraise.frontends.python.views import Part, Piece, View


def alias(scope: Scope, name: str, view: View, node: cst.CSTNode) -> None:
    """Let a name stand for part of an array; the subscripts keep the values that they have now."""
    if name in scope.params:
        raise scope.refuse(node, f"the parameter {name} is rebound to another array", "use another name", "KR299")
    if name in scope.views and scope.views[name].array == name:
        raise scope.refuse(node, f"the array {name} is rebound to another array", "use another name", "KR299")
    if scope.exchanges.of(view.array):
        reason = f"{name} is a part of {view.array}, which changes places with another array"
        raise scope.refuse(node, reason, "subscript the array itself", "KR299")
    frozen = tuple(_frozen(scope, s, name, node) for s in view.subscripts)
    scope.ambiguous.discard(name)
    scope.views[name] = View(view.array, frozen)


def _frozen(scope: Scope, part: Part, name: str, node: cst.CSTNode) -> Part:
    match part:
        case None:
            return None
        case Piece(start=start, extent=extent, step=step):
            start = scope.frozen(start, f"{name}_start", node)
            return Piece(start, scope.frozen(extent, f"{name}_extent", node), step)
    return scope.frozen(part, f"{name}_index", node)


def _variables(part: Part) -> set[str]:
    match part:
        case None:
            return set()
        case Piece(start=start, extent=extent):
            return ex.variables(start)[0] | ex.variables(extent)[0]
    return ex.variables(part)[0]


def enter_loop(scope: Scope, inside: Counter) -> None:
    """A view that is bound anew in the loop is not what it was before, from the second round on."""
    for name in list(scope.views):
        if inside[name] and scope.views[name].array != name:
            del scope.views[name]
            scope.ambiguous.add(name)


def leave(scope: Scope, before: dict[str, View], in_loop: bool) -> None:
    """After a block that may not have run: views that it bound hold only if nothing else can."""
    for name, view in list(scope.views.items()):
        if before.get(name) == view or view.array == name:
            continue
        moving = any(_variables(s) - set(scope.params) for s in view.subscripts)
        if name in before or scope.bound[name] > 1 or (in_loop and moving):
            del scope.views[name]
            scope.ambiguous.add(name)
