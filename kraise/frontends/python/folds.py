"""Sums, extrema and tests over generator expressions and arrays: a loop before the statement."""

from __future__ import annotations

import libcst as cst

from kraise.frontends.python import expressions as ex
from kraise.frontends.python.loops import Item, iteration
from kraise.frontends.python.scope import Scope
from kraise.frontends.python.views import View
from kraise.ir.kernel import Assign, Break, Const, Expr, For, If, Stmt, Var
from kraise.ir.types import BOOL, INT, NUMBER


def fold(scope: Scope, node: cst.Call, kind: str) -> Expr:
    """``sum(… for i in range(n))``, ``max``, ``any``, …: a loop before the statement."""
    span = scope.span(node)
    if not scope.may_hoist:
        scope.hoist(node)
    if len(node.args) != 1:
        raise scope.refuse(node, f"{kind}() with more than one argument is not accepted")
    argument = node.args[0].value
    names = {"sum": "total", "prod": "product", "any": "found", "all": "every", "min": "least", "max": "most"}
    result = scope.fresh(names[kind])
    scope.bound[result] = 2  # not stable
    outer = list(scope.taken())
    if kind in ("min", "max"):
        scope.pre = [*outer, *_extremum(scope, argument, kind, result)]
        return Var(result, NUMBER, span=span)
    if isinstance(argument, cst.GeneratorExp):
        body = _generator(scope, argument, argument.for_in, lambda value: _step(kind, result, value, span))
    else:
        found = iteration(scope, argument)
        index = scope.fresh_index()
        item = found.item(Var(index, INT, span=span))
        if not isinstance(item, View) or item.rank:
            raise scope.refuse(
                argument, f"{kind}() takes a generator or an array of one axis here", "write the loop", "KR299"
            )
        step = _step(kind, result, ex.load(scope, item, argument), span)
        body = [For(index, found.start, found.stop, found.step, tuple(step), False, INT, span=span)]
    initial = {
        "sum": ex.integer(0, span),
        "prod": ex.integer(1, span),
        "any": Const(False, BOOL, span=span),
        "all": Const(True, BOOL, span=span),
    }[kind]
    scope.pre = [*outer, Assign(result, initial, NUMBER, span=span), *body]
    return Var(result, NUMBER, span=span)


def _extremum(scope: Scope, argument: cst.BaseExpression, kind: str, result: str) -> list[Stmt]:
    """The first value, of which Python asks that there is one, and the others in a loop."""
    span = scope.span(argument)
    part = argument.for_in if isinstance(argument, cst.GeneratorExp) else None
    if part is not None and (part.inner_for_in is not None or part.ifs):
        reason = f"{kind}() of a generator with a condition, or with two loops, is not supported yet"
        raise scope.refuse(part, reason, "write the loop", "KR299")
    found = iteration(scope, argument if part is None else part.iter)
    index = scope.fresh_index()
    scope.bound[index] = 1

    def value(at: Expr) -> Expr:
        item = found.item(at)
        if part is None or not isinstance(argument, cst.GeneratorExp):
            if isinstance(item, tuple) or (isinstance(item, View) and item.rank):
                reason = f"{kind}() takes a generator or an array of one axis here"
                raise scope.refuse(argument, reason, "write the loop", "KR299")
            return ex.load(scope, item, argument) if isinstance(item, View) else item
        before = scope.substitutions
        scope.substitutions = dict(before)
        try:
            with scope.no_hoisting():
                _substitute(scope, part.target, item)
                return ex.scalar(scope, argument.elt)
        finally:
            scope.substitutions = before

    first = Assign(result, value(found.start), NUMBER, span=span)
    second = ex.op("add", found.start, found.step, span=span)
    rest = _step(kind, result, value(Var(index, INT, span=span)), span)
    return [
        *scope.taken(),
        first,
        For(index, second, found.stop, found.step, tuple(rest), False, INT, span=span),
    ]


_COMBINED = {"sum": "add", "prod": "mul", "min": "min", "max": "max"}


def _step(kind: str, result: str, value: Expr, span) -> list[Stmt]:
    held = Var(result, NUMBER, span=span)
    if kind in _COMBINED:
        return [Assign(result, ex.op(_COMBINED[kind], held, value, span=span), NUMBER, span=span)]
    stop = kind == "any"
    condition = value if stop else ex.op("not", value, span=span)
    end: tuple[Stmt, ...] = (Assign(result, Const(stop, BOOL, span=span), BOOL, span=span), Break(span=span))
    return [If(condition, end, span=span)]


def _generator(scope: Scope, node: cst.GeneratorExp, part: cst.CompFor, step) -> list[Stmt]:
    """The loops of a generator expression; its variables get names of their own."""
    span = scope.span(part)
    if part.inner_for_in is not None:
        raise scope.refuse(part, "a generator with two loops is not supported yet", "write the loops", "KR299")
    found = iteration(scope, part.iter)
    wish = (part.target.value,) if isinstance(part.target, cst.Name) and found.is_range else ()
    if wish and not scope.bound[wish[0]] and wish[0] not in (*scope.params, *scope.constants, *scope.loop_vars):
        index = wish[0]  # no name of the function outside the generator
    else:
        index = scope.fresh(*wish, "i", "j", "k", "m", "p", "index")
        scope.bound[index] = 1
    before = scope.substitutions
    scope.substitutions = dict(before)
    with scope.no_hoisting():
        _substitute(scope, part.target, found.item(Var(index, INT, span=span)))
        conditions = [ex.test(scope, c.test) for c in part.ifs]
        body = step(ex.scalar(scope, node.elt))
    scope.substitutions = before
    for condition in reversed(conditions):
        body = [If(condition, tuple(body), span=span)]
    return [
        *scope.taken(),
        For(index, found.start, found.stop, found.step, tuple(body), False, INT, span=span),
    ]


def _substitute(scope: Scope, target: cst.BaseExpression, item: Item) -> None:
    match target, item:
        case cst.Name(value=name), View() if item.rank == 0:
            scope.substitutions[name] = ex.load(scope, item, target)
        case cst.Name(value=name), tuple() | View():
            raise scope.refuse(target, f"{name} is no scalar here", "write the loop", "KR299")
        case cst.Name(value=name), _:
            scope.substitutions[name] = item  # type: ignore[assignment]
        case cst.Tuple(elements=elements), tuple() if len(elements) == len(item):
            for element, part in zip(elements, item, strict=True):
                _substitute(scope, element.value, part)
        case _:
            raise scope.refuse(target, "the targets of this generator do not fit what it runs over", "", "KR104")
