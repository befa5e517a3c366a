"""Lists and tuples of literals that Python host functions walk: ``weights = [0.1, 0.2]``, ``stages = [(add, 1.0)]``."""

from __future__ import annotations

from collections import Counter

import libcst as cst

from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.host_units import assigned
from kraise.frontends.python.source import dotted, walk


def tables(scope: HostScope, node: cst.FunctionDef) -> dict[str, cst.List | cst.Tuple]:
    """The names that a function gives a list or tuple of literals and kernels, once, and does not change."""
    times: Counter[str] = Counter()
    found: dict[str, cst.List | cst.Tuple] = {}
    changed: set[str] = set()
    for inner in walk(node):
        match inner:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value) if (
                isinstance(value, cst.List | cst.Tuple) and value.elements and _is_known(scope, value)
            ):
                found[name] = value
            case cst.AssignTarget(target=cst.Subscript(value=owner)) | cst.AugAssign(target=cst.Subscript(value=owner)):
                changed.add(dotted(owner))
            case cst.Call(func=cst.Attribute(value=owner)):
                changed.add(dotted(owner))
        if isinstance(inner, cst.BaseSmallStatement | cst.For | cst.Param):
            times.update(assigned(inner) if not isinstance(inner, cst.For) else {dotted(inner.target)})
    return {n: v for n, v in found.items() if times[n] == 1 and n not in changed}


def only_walked(node: cst.FunctionDef, name: str) -> bool:
    """Does nothing but loops read a name?"""
    uses = sum(isinstance(n, cst.Name) and n.value == name for n in walk(node))
    walked = [n.iter for n in walk(node) if isinstance(n, cst.For)]
    return uses == 1 + sum(isinstance(n, cst.Name) and n.value == name for over in walked for n in walk(over))


def _is_known(scope: HostScope, node: cst.BaseExpression) -> bool:
    """Is it a literal, a kernel, or a list or tuple of some?"""
    match node:
        case cst.Integer() | cst.Float() | cst.SimpleString():
            return True
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer() | cst.Float()):
            return True
        case cst.Name(value=name):
            return name in scope.functions or name in scope.refused
        case cst.List(elements=parts) | cst.Tuple(elements=parts):
            return all(_is_known(scope, e.value) for e in parts)
    return False
