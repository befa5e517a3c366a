"""What ``main`` makes before its launches and is not read: its parameters. What is not looked at any more goes.

``img = color.rgb2gray(photo)`` is an array that the caller of ``main`` gives.

Side conditions, checked: the name is set once; the value is made of nothing that a launch changes or that is a
parameter (a gradient would end there); the call is of an imported module, or nobody looks at its operands afterwards.
"""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from kraise.diagnostics import Diagnostic
from kraise.frontends.python.host_scope import ignored_call
from kraise.frontends.python.host_units import times_set
from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import Source, all_of, dotted, placed, walk


def with_parameters(
    source: Source, imports: Imports, node: cst.FunctionDef, wrong: list[Diagnostic], changed: Collection[str]
) -> cst.FunctionDef | None:
    """The function without the statements that are ``wrong``, their names parameters where they are used; None where
    one of them is needed. ``changed`` are the names that depend on launches."""
    assert isinstance(node.body, cst.IndentedBlock)
    lines = {d.span.line for d in wrong if d.span is not None}
    times = times_set(node)
    own = {p.name.value for p in node.params.params}
    kept: list[cst.BaseStatement] = []
    names: list[str] = []
    body = list(node.body.body)
    for statement in reversed(body):
        place = source.positions.get(statement)
        if place is None or not lines & set(range(place.start.line, place.end.line + 1)):
            kept.insert(0, statement)
            continue
        later = {n for s in kept if not _is_said(s, imports) for n in _names(s)}
        match statement:
            case cst.SimpleStatementLine(
                body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)]
            ) if times[name] == 1 and _is_pure(value, imports, later):
                if name not in later:
                    continue
                if not _names(value) & (set(changed) | own):
                    names.insert(0, name)
                    continue
        return None
    if len(kept) == len(body):
        return None
    params = [cst.Param(cst.Name(n)) for n in names]
    for p in params:
        for part in (p, p.name):
            source.positions.setdefault(part, source.positions[node.name])
    given = [p.with_changes(comma=cst.MaybeSentinel.DEFAULT) for p in (*params, *node.params.params)]
    for a, b in zip(given, (*params, *node.params.params), strict=True):
        placed(source, a, b)
    new = node.with_changes(params=node.params.with_changes(params=given), body=node.body.with_changes(body=kept))
    return placed(source, new, node)  # type: ignore[no-any-return]


def _names(node: cst.CSTNode) -> set[str]:
    return {n.value for n in all_of(cst.Name, node)}


def _is_said(statement: cst.CSTNode, imports: Imports) -> bool:
    """Is it printing or plotting?"""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(func=func))]):
            return bool(ignored_call(imports.qualified(dotted(func))))
    return False


def _is_pure(value: cst.BaseExpression, imports: Imports, later: set[str]) -> bool:
    """Does a value change nothing that is looked at later?"""
    for inner in walk(value):
        if isinstance(inner, cst.Call):
            if isinstance(inner.func, cst.Attribute) and isinstance(inner.func.value, cst.Call):
                continue  # of what another call gives
            head = dotted(inner.func).partition(".")[0]
            words = {a.keyword.value for a in inner.args if a.keyword is not None}
            if (head not in imports.bound or "out" in words) and (_names(inner) - set(imports.bound)) & later:
                return False
    return True
