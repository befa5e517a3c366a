"""Parameters of Python host functions that are arrays, by what is done with them elsewhere: ``for b in betas`` where a
kernel takes ``b`` as a number, ``fit(x[:n], y[:n])`` in another function of the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import libcst as cst

from kraise import dialects
from kraise.frontends.python import host_numpy
from kraise.frontends.python.host_scope import HostScope, launched
from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import all_of, dotted, walk
from kraise.ir.types import ArrayType


def of_numbers(scope: HostScope, node: cst.FunctionDef) -> set[str]:
    """The parameters of a function that are arrays of one axis because their elements are numbers."""
    every = (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params)
    params = {p.name.value for p in every}
    found: set[str] = set()
    for loop in walk(node.body):
        if isinstance(loop, cst.For):
            pairs = [(n, a) for n, a in _pairs(loop.target, loop.iter) if a in params]
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
            if not all_of(cst.Call | cst.Subscript | cst.Attribute, part):
                found |= {n.value for n in all_of(cst.Name, part)}
    return found


def given(nodes: Mapping[str, cst.FunctionDef], imports: Imports) -> dict[str, set[str]]:
    """The parameters of functions that calls of the file give arrays to."""
    found: dict[str, set[str]] = {}
    for node in nodes.values():
        calls = [n for n in all_of(cst.Call, node.body) if dotted(n.func) in nodes]
        if not calls:
            continue
        values: dict[str, list[cst.BaseExpression]] = {}
        for inner in walk(node.body):
            for target in inner.targets if isinstance(inner, cst.Assign) else ():
                for name, value in _assigned(target.target, inner.value):  # type: ignore[attr-defined]
                    values.setdefault(name, []).append(value)
        for call in calls:
            params = nodes[dotted(call.func)].params
            names = [p.name.value for p in (*params.posonly_params, *params.params)]
            for at, a in enumerate(call.args):
                name = a.keyword.value if a.keyword is not None else names[at] if at < len(names) else ""
                if name and not a.star and _is_array(imports, a.value, values):
                    found.setdefault(dotted(call.func), set()).add(name)
    return found


def _assigned(target: Any, value: Any) -> list[tuple[str, cst.BaseExpression]]:
    """The names that an assignment sets, with their values."""
    if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple) and len(target.elements) == len(value.elements):
        pairs = zip(target.elements, value.elements, strict=True)
        return [p for t, v in pairs for p in _assigned(t.value, v.value)]
    return [(target.value, value)] if isinstance(target, cst.Name) else []


def _is_array(
    imports: Imports, node: cst.BaseExpression, values: Mapping[str, list[cst.BaseExpression]], depth: int = 0
) -> bool:
    """Does the text of an expression say that it is an array?"""
    match node:
        case cst.Subscript(slice=items):
            return any(isinstance(i.slice, cst.Slice) for i in items)
        case cst.BinaryOperation(left=left, right=right) if not isinstance(node.operator, cst.MatrixMultiply):
            return _is_array(imports, left, values, depth) or _is_array(imports, right, values, depth)
        case cst.Name(value=name) if depth < 4:
            own = values.get(name, [])
            return bool(own) and all(_is_array(imports, v, values, depth + 1) for v in own)
        case cst.Call(func=func):
            name = imports.qualified(dotted(func)) if dotted(func) else ""
            row = dialects.table("host_library")["rows"].get(dialects.host_rows("python").get(name, ""), {})
            made = dialects.table("host_library")["python"].get(name, "") in _MAKES
            return made or bool(row.get("array")) or host_numpy.joins(name)
    return False


_MAKES = frozenset(("empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like", "alias"))
