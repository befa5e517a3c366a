"""Calls of other functions of the module: as a value where the callee has no effects, as a statement otherwise."""

from __future__ import annotations

import libcst as cst

from kraise.frontends.python import expressions as ex
from kraise.frontends.python import specialise
from kraise.frontends.python.scope import Scope, Summary
from kraise.frontends.python.specialise import FIXED, FREE
from kraise.frontends.python.views import Part, Piece, View
from kraise.ir.kernel import ArrayRef, Call, CallStmt, Expr, Var
from kraise.ir.types import NUMBER


def arguments(scope: Scope, node: cst.Call, name: str) -> tuple[Summary, tuple[Expr | ArrayRef, ...]]:
    """The callee and its arguments in the order of its parameters. Refused: a callee that is refused itself."""
    summary = scope.callee(name)
    if summary is None:
        if name == scope.definition.name:
            raise scope.refuse(node, f"{name} calls itself", "write it as a loop", "KR209")
        raise scope.refuse(
            node, f"the function {name} that is called here is not accepted", "its own diagnostics say why", "KR103"
        )
    params = [p.name for p in summary.function.params]
    given: dict[str, cst.BaseExpression] = {}
    for k, argument in enumerate(node.args):
        if argument.star or (argument.keyword is None and k >= len(params)):
            raise scope.refuse(node, f"{name} takes {len(params)} arguments, not these", "", "KR104")
        given[argument.keyword.value if argument.keyword is not None else params[k]] = argument.value
    if set(given) - set(params):
        raise scope.refuse(node, f"{name} has no parameter {sorted(set(given) - set(params))[0]}", "", "KR104")
    values: list[Expr | View] = []
    for param in summary.function.params:
        argument_node = given.get(param.name)
        if argument_node is None:
            if param.default is None:
                raise scope.refuse(node, f"the argument {param.name} of {name} is missing", "", "KR104")
            values.append(param.default)
        elif param.name in summary.ranks:
            values.append(_array(scope, argument_node, summary, param.name))
        else:
            values.append(ex.scalar(scope, argument_node))
    return _parts(scope, node, summary, values)


def _array(scope: Scope, node: cst.BaseExpression, summary: Summary, param: str) -> View:
    view = ex.access(scope, node)
    rank = summary.ranks[param]
    if view is None or view.rank != rank:
        found = "a scalar" if view is None else f"{view.rank} axes"
        raise scope.refuse(
            node, f"{summary.function.name} takes an array of {rank} axes as {param}, not {found}", "", "KR104"
        )
    return view


def _parts(scope: Scope, node: cst.Call, summary: Summary, values: list) -> tuple[Summary, tuple[Expr | ArrayRef, ...]]:
    """Views become whole arrays; where some are parts, the callee is the copy that takes the indices too."""
    params = summary.function.params
    patterns = {
        p.name: tuple(_pattern(s) for s in v.subscripts)
        for p, v in zip(params, values, strict=True)
        if isinstance(v, View) and not v.whole
    }
    given: list[Expr | ArrayRef] = []
    for value in values:
        if not isinstance(value, View):
            given.append(value)
            continue
        given.append(ArrayRef(value.array, span=scope.span(node)))
        for part in value.subscripts:
            if isinstance(part, Piece):
                given.extend((part.start, part.extent))
            elif part is not None:
                given.append(part)
    if not patterns:
        return summary, tuple(given)
    try:
        return _copy(scope, summary, patterns), tuple(given)
    except specialise.PassedOn:
        raise scope.refuse(
            node,
            f"{summary.function.name} hands part of an array on to another function, which is not supported yet",
            "pass the whole array and the index",
            "KR299",
        ) from None


def _copy(scope: Scope, summary: Summary, patterns: dict[str, specialise.Pattern]) -> Summary:
    """The copy of a function that takes whole arrays in place of parts; made once. Raises PassedOn."""
    original = summary.function.name
    key = (original, tuple(sorted(patterns.items(), key=str)))
    copy = scope.copies.get(key)
    if copy is None:
        name = f"{original}_at"
        number = 2
        while name in scope.summaries or name in scope.functions or name in scope.constants:
            name, number = f"{original}_at{number}", number + 1

        def inner(called: str, places: dict[int, specialise.Pattern]) -> Summary | None:
            found = scope.summaries.get(called)
            if found is None:
                return None
            names = {found.function.params[at].name: p for at, p in places.items()}
            return _copy(scope, found, names)

        copy = specialise.specialise(summary, patterns, name, specialise.names(summary.function), inner)
        scope.copies[key] = scope.summaries[name] = copy
    return copy


def _pattern(part: Part) -> str | int:
    return FREE if part is None else part.step if isinstance(part, Piece) else FIXED


def scalar_call(scope: Scope, node: cst.Call, name: str) -> Expr:
    """A call whose one result is used as a value; hoisted as a statement if the callee stores."""
    summary, values = arguments(scope, node, name)
    span, returned = scope.span(node), summary.function.returns
    if len(returned) != 1 or returned[0] is None:
        what = "nothing" if not returned else "an array" if returned[0] is None else f"{len(returned)} values"
        raise scope.refuse(node, f"{name} returns {what}, and one scalar is needed here", "", "KR104")
    if not summary.effects:
        return Call(summary.function.name, values, NUMBER, span=span)
    result = scope.fresh(f"{name}_result")
    scope.bound[result] = 1
    scope.hoist(node, CallStmt(summary.function.name, values, (result,), (NUMBER,), span=span))
    return Var(result, NUMBER, span=span)


def tuple_call(scope: Scope, node: cst.Call, name: str) -> tuple[Expr, ...] | None:
    """The results of a callee that returns several scalars, through a statement before; None if it returns one."""
    summary, values = arguments(scope, node, name)
    count = len(summary.function.returns)
    if count < 2:
        return None
    names = tuple(scope.fresh(f"{name}_{k}") for k in range(count))
    for result in names:
        scope.bound[result] = 1
    scope.hoist(node, CallStmt(summary.function.name, values, names, (NUMBER,) * count, span=scope.span(node)))
    return tuple(Var(n, NUMBER, span=scope.span(node)) for n in names)


def statement(scope: Scope, node: cst.Call, name: str, results: tuple[str, ...] = ()) -> CallStmt:
    """A call for its effects, or with its results bound to locals."""
    summary, values = arguments(scope, node, name)
    if results and len(results) != len(summary.function.returns):
        raise scope.refuse(
            node,
            f"{name} returns {len(summary.function.returns)} values, and {len(results)} are taken here",
            "",
            "KR104",
        )
    return CallStmt(summary.function.name, values, results, (NUMBER,) * len(results), span=scope.span(node))
