"""``map(f, xs)`` in Python host functions as the comprehension that it is: ``a, b = map(cuda.to_device, (x, y))``."""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.source import all_of, dotted, placed, rebuilt
from kraise.ir.host_names import fresh


def without_maps(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with ``(f(each) for each in xs)`` for ``map(f, xs)``."""
    taken = {n.value for n in all_of(cst.Name, node)}
    if "map" not in taken or scope.imports.qualified("map") != "builtins.map":
        return node

    def here(new: Any) -> Any:  # at the function: the call may stand in an expression that is made
        return placed(scope.source, new, node.name)

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.Call(
                func=cst.Name(value="map"), args=[cst.Arg(value=called), cst.Arg(value=over, star="", keyword=None)]
            ) if dotted(called):
                if isinstance(over, cst.Tuple | cst.List):
                    return here(cst.Tuple([e.with_changes(value=here(_call(called, e.value))) for e in over.elements]))
                each = cst.Name(fresh(taken, "each"))
                return here(cst.GeneratorExp(here(_call(called, each)), cst.CompFor(each, over)))
        return None

    return rebuilt(scope.source, node, change)  # type: ignore[no-any-return]


def _call(called: cst.BaseExpression, value: cst.BaseExpression) -> cst.Call:
    return cst.Call(called, [cst.Arg(value)])


__all__ = ["without_maps"]
