"""Dicts of arrays in Python host functions under several names: ``state = new``.

Two names for one dict are two dicts with the same arrays as long as no entry of one of them is set anew while the other
is in use: ``state = new`` is ``state = dict(new)``.

Side conditions, checked: the entries of ``state`` are never set one by one; those of ``new`` only between the place
where it is made, in the same block, and this one.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python import host_objects
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.source import all_of, dotted, placed, rebuilt, walk


def with_copies(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with a dict of its own for each name. Raises Refused."""
    made = {dotted(n.targets[0].target) for n in all_of(cst.Assign, node.body) if _makes(n.value)}
    while True:  # names for such names
        more = {
            dotted(n.targets[0].target) for n in all_of(cst.Assign, node.body)
            if dotted(n.value) in made and isinstance(n.targets[0].target, cst.Name)
        }  # fmt: skip
        if more <= made:
            break
        made |= more
    stores = [n for n in all_of(cst.Assign, node.body) if _entry(n) in made]

    def change(block: cst.CSTNode) -> cst.CSTNode | None:
        if not isinstance(block, cst.IndentedBlock):
            return None
        lines = [rebuilt(scope.source, line, change) for line in block.body]
        out = [_copied(scope, lines, at, made, stores) for at in range(len(lines))]
        return block.with_changes(body=out)

    return rebuilt(scope.source, node, change) if made - {""} else node  # type: ignore[no-any-return]


def _copied(scope: HostScope, lines: list[Any], at: int, dicts: set[str], stores: list[cst.Assign]) -> Any:
    """``state = dict(new)`` for ``state = new``; any other statement as it is."""
    match lines[at]:
        case cst.SimpleStatementLine(
            body=[
                cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Name() as value) as made
            ]
        ) if value.value in dicts and name in dicts:
            own = [n for line in _since(lines[:at], value.value) for n in walk(line)]
            for store in stores:
                if _entry(store) == name or (_entry(store) == value.value and not any(n is store for n in own)):
                    reason = f"{name} and {value.value} are one dict, whose entries are set one by one"
                    raise scope.refuse(store, reason, f"make a new one: {name} = dict({value.value})")
            new = placed(scope.source, cst.Call(cst.Name("dict"), [cst.Arg(value)]), made)
            return lines[at].with_changes(body=[placed(scope.source, made.with_changes(value=new), made)])
    return lines[at]


def _since(lines: list[Any], name: str) -> list[Any]:
    """The statements from the last one on that makes the dict ``name``."""
    for at in range(len(lines) - 1, -1, -1):
        match lines[at]:
            case cst.SimpleStatementLine(
                body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=own))], value=value)]
            ) if own == name and _makes(value):
                return lines[at:]
    return []


def _makes(value: cst.BaseExpression) -> bool:
    """Is it a dict?"""
    made = isinstance(value, cst.Call) and dotted(value.func) == "dict"
    return made or isinstance(value, cst.Dict | cst.DictComp)


def _entry(node: cst.Assign) -> str:
    """The name of which ``state["u"] = …`` sets an entry; "" for another statement."""
    target = node.targets[0].target
    if isinstance(target, cst.Subscript) and host_objects.key(target):
        return dotted(target.value)
    return ""
