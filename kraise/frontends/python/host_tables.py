"""Lists and tuples of literals that Python host functions walk: ``weights = [0.1, 0.2]``, ``stages = [(add, 1.0)]``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import libcst as cst

from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.host_units import times_set
from kraise.frontends.python.source import all_of, dotted, walk


def tables(scope: HostScope, node: cst.FunctionDef) -> dict[str, cst.List | cst.Tuple]:
    """The names that a function gives a list or tuple of literals and kernels, once, and does not change."""
    times = times_set(node)
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
    return {n: v for n, v in found.items() if times[n] == 1 and n not in changed}


def only_walked(node: cst.FunctionDef, name: str, table: cst.List | cst.Tuple) -> bool:
    """Does nothing but loops read a name, or is it nothing that could be an array?"""
    if len({len(rows_of(e.value)) for e in table.elements}) > 1:
        return True
    uses = sum(isinstance(n, cst.Name) and n.value == name for n in walk(node))
    walked = [n.iter for n in all_of(cst.For, node)]
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
        case cst.BinaryOperation(
            left=left, operator=cst.Add() | cst.Subtract() | cst.Multiply() | cst.Divide(), right=right
        ):
            plain = not all_of(cst.Name | cst.List | cst.Tuple | cst.SimpleString, node)
            return plain and _is_known(scope, left) and _is_known(scope, right)
        case cst.List(elements=parts) | cst.Tuple(elements=parts):
            return all(_is_known(scope, e.value) for e in parts)
    return False


def entry(
    tables: Mapping[str, cst.List | cst.Tuple], node: cst.BaseExpression, at: Callable[[cst.BaseExpression], int | None]
) -> cst.BaseExpression | None:
    """What ``A[s]`` or ``A[s][j]`` of such a list is, where the places are known."""
    match node:
        case cst.Name(value=name):
            return tables.get(name)
        case cst.Subscript(value=owner, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            rows, place = entry(tables, owner, at), at(index)
            parts = rows.elements if isinstance(rows, cst.List | cst.Tuple) else ()
            return parts[place].value if place is not None and -len(parts) <= place < len(parts) else None
    return None


def has_rows(table: cst.List | cst.Tuple | None) -> bool:
    """Are there lists in a list?"""
    return table is not None and any(isinstance(e.value, cst.List | cst.Tuple) for e in table.elements)


def rows_of(table: cst.BaseExpression | None) -> list[cst.BaseExpression]:
    """The elements of a list or tuple of literals; none for anything else."""
    return [e.value for e in table.elements] if isinstance(table, cst.List | cst.Tuple) else []


def may_change(value: cst.BaseExpression, assigned: set[str]) -> bool:
    """May an expression have another value after a round that sets some names, and changes arrays?"""
    for n in walk(value):
        if isinstance(n, cst.Name) and n.value in assigned:
            return True
        if isinstance(n, cst.Call) or (isinstance(n, cst.Subscript) and not dotted(n.value).endswith(".shape")):
            return True
    return False
