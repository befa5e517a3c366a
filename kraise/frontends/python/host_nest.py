"""A loop of a host function over elements of arrays becomes a plain function of its own, as it stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import libcst as cst

from kraise import dialects
from kraise.frontends.python import passes
from kraise.frontends.python.source import all_of, dotted, walk
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import NUMBER

if TYPE_CHECKING:
    from kraise.frontends.python.host import Reader


def outlined(reader: Reader, node: cst.For) -> list[h.Stmt] | None:
    """The call of the function that the loop became; None for a loop that is not one over elements of arrays.

    Its body holds assignments, branches and loops, elements of arrays, and no call but of the loop ranges and of
    scalar functions; names that it sets are numbers.
    """
    scope: Any = reader.scope
    if scope.outline is None or not _over_elements(scope, node) or passes.passes(node):
        return None
    names: dict[str, None] = {}
    for inner in walk(node):
        if isinstance(inner, cst.Name):
            names[inner.value] = None
    sets = _set(node)
    arrays = [n for n in names if n in scope.arrays]
    scalars = [n for n in names if n in scope.scalars and n not in _targets(node)]
    changed = [n for n in scalars if n in sets]
    if any(n in scope.arrays for n in sets):
        return None
    params = [cst.Param(cst.Name(n)) for n in (*arrays, *scalars)]
    body: list[cst.BaseStatement] = [node]
    if changed:
        values: cst.BaseExpression = cst.Name(changed[0])
        if len(changed) > 1:
            values = cst.Tuple([cst.Element(cst.Name(n)) for n in changed])
        body.append(cst.SimpleStatementLine([cst.Return(values)]))
    own = f"{scope.name}_loop" + (f"_{len(scope.outlined) + 1}" if scope.outlined else "")
    made = cst.FunctionDef(cst.Name(own), cst.Parameters(params), cst.IndentedBlock(body))
    function = scope.outline(made)
    if function is None:
        return None
    scope.outlined.append(function)
    span = scope.span(node)
    args: list[Any] = [k.ArrayRef(n, span=span) for n in arrays] + [k.Var(n, NUMBER, span=span) for n in scalars]
    types = (NUMBER,) * len(changed)
    return [h.Launch(own, tuple(args), None, None, None, tuple(changed), types, span=span)]


def of_numbers(scope: Any, node: cst.For) -> bool:
    """Does a loop compute with numbers only, element by element?"""
    if passes.passes(node) or all_of(cst.For | cst.While, node.body):
        return False
    whole = any(scope.is_array(n) for n in walk(node.body) if isinstance(n, cst.BaseExpression))
    return not whole and bool(all_of(cst.Subscript, node.body))


def _over_elements(scope: Any, node: cst.For) -> bool:
    touched = False
    pairs = {id(side) for both in _pairs(node) for side in both}
    for inner in walk(node.body):
        match inner:
            case cst.Call(func=func):
                name = scope.imports.qualified(dotted(func))
                known = name.startswith(("builtins.", "math.", "numba.prange")) or name in dialects.operations("python")
                if not known or name == "builtins.print":
                    return False
            case cst.Subscript(value=value, slice=items):
                if dotted(value) not in scope.arrays or any(isinstance(i.slice, cst.Slice) for i in items):
                    return False
                touched = True
            case cst.Return() | cst.With() | cst.Try() | cst.Assert() | cst.FunctionDef():
                return False
            case cst.Tuple() if id(inner) not in pairs:
                return False
    return touched


def _pairs(node: cst.For) -> Iterator[tuple[cst.Tuple, cst.Tuple]]:
    """Both sides of ``a[i], a[j] = a[j], a[i]``."""
    for inner in all_of(cst.Assign, node.body):
        match inner:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple() as left)], value=cst.Tuple() as right):
                if len(left.elements) == len(right.elements):
                    yield left, right


def _set(node: cst.For) -> set[str]:
    found = {e.value.value for left, _ in _pairs(node) for e in left.elements if isinstance(e.value, cst.Name)}
    for inner in walk(node.body):
        match inner:
            case cst.AssignTarget(target=cst.Name(value=name)) | cst.AugAssign(target=cst.Name(value=name)):
                found.add(name)
    return found


def _targets(node: cst.For) -> set[str]:
    return {n.target.value for n in all_of(cst.For, node) if isinstance(n.target, cst.Name)}
