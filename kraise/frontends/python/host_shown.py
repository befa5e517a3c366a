"""Calls in what is left out of a Python host function: ``print(step(u))``, ``assert step(u) is not None``.

Printing and checks have no part in the values; what the file's own functions do in them has. Such a call is made
before: ``shown = step(u)``.

Side condition, checked: it is always made (it stands under no ``and``, ``or``, condition, lambda or comprehension).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import libcst as cst

from kraise.frontends.python.host_control import fails
from kraise.frontends.python.host_scope import HostScope, ignored_call
from kraise.frontends.python.source import all_of, children, dotted, placed, rebuilt, walk
from kraise.ir.host_names import fresh

_MAYBE = (cst.BooleanOperation, cst.IfExp, cst.Lambda, cst.ListComp, cst.GeneratorExp, cst.DictComp, cst.SetComp)


def with_calls_before(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with these calls as statements of their own."""
    methods = {m for r in scope.records.values() for m in r.methods}
    taken = {n.value for n in all_of(cst.Name, node)}
    works = _Works(scope, methods)
    if not any(works(n) for n in walk(node.body)):
        return node

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        if not isinstance(inner, cst.IndentedBlock):
            return None
        lines: list[Any] = []
        for line in inner.body:
            shown = _left_out(scope, line)
            if shown is None or not any(map(works, walk(shown))):
                lines.append(rebuilt(scope.source, line, change))
                continue
            names: dict[cst.CSTNode, str] = {}
            for call in _calls(scope, shown, works):
                own = names[call] = fresh(taken, "shown")
                taken.add(own)
                made = cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(cst.Name(own))], call)])
                for part in (made, made.body[0]):
                    placed(scope.source, part, call)
                lines.append(made)
            named = partial(_named, names)
            lines.append(rebuilt(scope.source, line, named))
        return placed(scope.source, inner.with_changes(body=lines), inner)

    return rebuilt(scope.source, node, change)  # type: ignore[no-any-return]


def _named(names: dict[cst.CSTNode, str], node: cst.CSTNode) -> cst.Name | None:
    return cst.Name(names[node]) if node in names else None


class _Works:
    """Does a node call a function of the file that launches, or a method of one of its classes?"""

    def __init__(self, scope: HostScope, methods: set[str]):
        self.scope, self.methods = scope, methods
        self.functions = {*scope.host_units, *scope.hosts}

    def __call__(self, node: cst.CSTNode) -> bool:
        match node:
            case cst.Call(func=cst.Name(value=name)):
                return name in self.functions
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=method))):
                return method in self.methods and not self.scope.imports.bound.get(dotted(owner).partition(".")[0])
        return False


def _left_out(scope: HostScope, line: Any) -> cst.CSTNode | None:
    """What a statement that has no part in the values looks at; None for one that has."""
    match line:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(func=func) as call)]):
            return call if ignored_call(scope.imports.qualified(dotted(func))) else None
        case cst.SimpleStatementLine(body=[cst.Assert() as check]):
            return check
        case cst.If(test=test, body=body, orelse=None) if fails(body):
            return test
    return None


def _calls(scope: HostScope, node: cst.CSTNode, works: _Works) -> list[cst.Call]:
    """The outermost calls that work, in their order."""
    if works(node):
        return [node]  # type: ignore[list-item]
    if isinstance(node, _MAYBE) and any(map(works, walk(node))):
        raise scope.refuse(
            node, f"whether `{scope.text(node)}` calls what changes arrays depends on data", "call it before"
        )
    return [c for inner in children(node) for c in _calls(scope, inner, works)]
