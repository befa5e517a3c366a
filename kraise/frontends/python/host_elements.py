"""Parameters of Python host functions that are arrays of numbers, by the loops over them: ``for b in betas`` where a
kernel takes ``b`` as a number."""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.host_scope import HostScope, launched
from kraise.frontends.python.source import dotted, walk
from kraise.ir.types import ArrayType


def of_numbers(scope: HostScope, node: cst.FunctionDef) -> set[str]:
    """The parameters of a function that are arrays of one axis because their elements are numbers."""
    every = (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params)
    given = {p.name.value for p in every}
    found: set[str] = set()
    for loop in walk(node.body):
        if isinstance(loop, cst.For):
            pairs = [(n, a) for n, a in _pairs(loop.target, loop.iter) if a in given]
            numbers = _numbers(scope, loop.body) if pairs else set()
            found |= {array for name, array in pairs if name in numbers}
    return found


def _pairs(target: Any, over: Any) -> list[tuple[str, str]]:
    """The names that a loop gives the elements of names to."""
    match over:
        case cst.Call(func=cst.Name(value="enumerate"), args=[cst.Arg(value=inner), *_]) if isinstance(
            target, cst.Tuple
        ):
            return _pairs(target.elements[-1].value, inner)
        case cst.Call(func=cst.Name(value="zip"), args=args) if isinstance(target, cst.Tuple):
            pairs = zip(target.elements, args, strict=False)
            return [p for t, a in pairs for p in _pairs(t.value, a.value)]
    return [(dotted(target), dotted(over))] if dotted(target) and dotted(over) else []


def _numbers(scope: HostScope, body: cst.CSTNode) -> set[str]:
    """The names that stand in what launches take as numbers, and in bounds of ``range``."""
    found: set[str] = set()
    for call in walk(body):
        if not isinstance(call, cst.Call):
            continue
        function = scope.functions.get(launched(scope, call))
        taken: list[Any] = []
        if function is not None:
            pairs = zip(function.params, call.args, strict=False)
            taken = [a.value for p, a in pairs if not isinstance(p.type, ArrayType)]
        elif dotted(call.func) in ("range", "float", "int"):
            taken = [a.value for a in call.args]
        for part in taken:
            if not any(isinstance(n, cst.Call | cst.Subscript | cst.Attribute) for n in walk(part)):
                found |= {n.value for n in walk(part) if isinstance(n, cst.Name)}
    return found
