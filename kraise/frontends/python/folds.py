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
    """``sum(… for i in range(n))``, ``any`` and ``all``: a loop before the statement."""
    span = scope.span(node)
    if not scope.may_hoist:
        scope.hoist(node)
    if len(node.args) != 1:
        raise scope.refuse(node, f"{kind}() with more than one argument is not accepted")
    argument = node.args[0].value
    result = scope.fresh({"sum": "total", "any": "found", "all": "every", "min": "least", "max": "most"}[kind])
    scope.bound[result] = 2  # not stable
    outer = list(scope.taken())
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
        "any": Const(False, BOOL, span=span),
        "all": Const(True, BOOL, span=span),
    }.get(kind)
    if initial is None:
        raise scope.refuse(node, f"{kind}() of a generator is not supported yet", "write the loop", "KR299")
    scope.pre = [*outer, Assign(result, initial, NUMBER, span=span), *body]
    return Var(result, NUMBER, span=span)


def _step(kind: str, result: str, value: Expr, span) -> list[Stmt]:
    held = Var(result, NUMBER, span=span)
    if kind == "sum":
        return [Assign(result, ex.op("add", held, value, span=span), NUMBER, span=span)]
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
