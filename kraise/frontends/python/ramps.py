"""Arrays that numpy fills by a rule (``np.arange``, ``np.linspace``, ``np.eye``): new arrays, filled by loops; and
arrays that are made within an expression (``np.ones(n) * h``): arrays of their own, made before the statement."""

from __future__ import annotations

import math

import libcst as cst

from kraise.frontends.python import arrays, calls, elementwise
from kraise.frontends.python import expressions as ex
from kraise.frontends.python.scope import Scope
from kraise.frontends.python.source import walk
from kraise.frontends.python.views import minus
from kraise.ir.kernel import Const, Expr, LocalArray, Stmt, Store, Var
from kraise.ir.types import FLOAT, INT, NUMBER, ScalarType

_NAMES = {"arange": "steps", "linspace": "steps", "eye": "unit"}


def filled(scope: Scope, name: str, call: cst.Call, node: cst.CSTNode, kind: str) -> list[Stmt]:
    """``name = np.arange(…)`` and its like."""
    options = {a.keyword.value: a.value for a in call.args if a.keyword is not None}
    given = [ex.scalar(scope, a.value) for a in call.args if a.keyword is None and not a.star]
    dtype = options.pop("dtype", None)
    takes = {"arange": (1, 3), "linspace": (2, 3), "eye": (1, 2)}[kind]
    if options or len(given) < len(call.args) - (dtype is not None) or not takes[0] <= len(given) <= takes[1]:
        raise scope.refuse(call, f"np.{kind} with these arguments is not supported yet", "write the loop", "KR299")
    given = [scope.frozen(e, f"{name}_{at}", node) for at, e in enumerate(given)]
    shape, element = {"arange": _range, "linspace": _space, "eye": _unit}[kind](scope, given, call)
    if dtype is not None:
        element, _ = arrays.element_type(scope, dtype, element)
    before = scope.taken()
    shape = arrays.made(scope, name, shape, node)
    span = scope.span(node)
    indices = elementwise.fresh_indices(scope, len(shape))
    places: tuple[Expr, ...] = tuple(Var(i, INT, span=span) for i in indices)
    body: Stmt = Store(name, places, _value(kind, given, shape, places, span), span=span)
    made = LocalArray(name, element, shape, "heap", span=span)
    return [*before, *scope.taken(), made, elementwise.nest(indices, shape, (body,), span)]


def _value(kind: str, given: list[Expr], shape: tuple[Expr, ...], at: tuple[Expr, ...], span) -> Expr:
    if kind == "eye":
        on = ex.op("eq", *at, span=span) if len(at) == 2 else Const(True, INT)
        return ex.op("select", on, Const(1.0, FLOAT, span=span), Const(0.0, FLOAT, span=span), span=span)
    (i,) = at
    if kind == "linspace":
        first, last = given[:2]
        gaps: Expr = minus(shape[0], ex.integer(1, span))
        gaps = ex.integer(max(int(gaps.value), 1), span) if isinstance(gaps, Const) else _at_least(gaps, 1, span)  # type: ignore[arg-type]
        gap = ex.op("div", ex.op("sub", last, first, span=span), gaps, span=span)
        return ex.op("add", first, ex.op("mul", i, gap, span=span), span=span)
    step = given[2] if len(given) == 3 else ex.integer(1, span)
    scaled = i if _is(step, 1) else ex.op("mul", i, step, span=span)
    first = given[0] if len(given) > 1 else ex.integer(0, span)
    return scaled if _is(first, 0) else ex.op("add", scaled, first, span=span)


def _range(scope: Scope, given: list[Expr], call: cst.Call) -> tuple[tuple[Expr, ...], ScalarType]:
    span = scope.span(call)
    first, last = given[:2] if len(given) > 1 else (ex.integer(0, span), given[0])
    step = given[2] if len(given) == 3 else ex.integer(1, span)
    numbers = [e.value for e in (first, last, step) if isinstance(e, Const)]
    if len(numbers) == 3 and step.value:  # type: ignore[union-attr]
        a, b, by = map(float, numbers)  # type: ignore[arg-type]
        kind = FLOAT if any(isinstance(v, float) for v in numbers) else INT
        return (ex.integer(max(math.ceil((b - a) / by), 0), span),), kind
    if (
        not isinstance(step, Const)
        or not isinstance(step.value, int)
        or not step.value
        or isinstance(first, Const)
        and not isinstance(first.value, int)
    ):
        raise scope.refuse(call, "how many elements np.arange has here is not known", "use np.linspace", "KR299")
    count = last if _is(first, 0) else minus(last, first)
    size = abs(step.value)
    if step.value < 0:
        count = ex.op("neg", count, span=span)
    if size > 1:
        count = ex.op(
            "floordiv", ex.op("add", count, ex.integer(size - 1, span), span=span), ex.integer(size, span), span=span
        )
    if len(given) > 1:
        count = _at_least(count, 0, span)
    return (count,), INT if isinstance(first, Const) else NUMBER


def _space(scope: Scope, given: list[Expr], call: cst.Call) -> tuple[tuple[Expr, ...], ScalarType]:
    return ((given[2] if len(given) == 3 else ex.integer(50, scope.span(call))),), FLOAT


def _unit(scope: Scope, given: list[Expr], call: cst.Call) -> tuple[tuple[Expr, ...], ScalarType]:
    return (given[0], given[-1]), FLOAT


def _at_least(e: Expr, least: int, span) -> Expr:
    return ex.op("max", e, ex.integer(least, span), span=span)


def _is(e: Expr, value: int) -> bool:
    return isinstance(e, Const) and type(e.value) is int and e.value == value


def within(scope: Scope, value: cst.BaseExpression, node: cst.CSTNode) -> None:
    """Makes the arrays that are made inside ``value``, before the statement."""
    if scope.definition.kind == "kernel":
        return
    for call in walk(value, lambda n: not isinstance(n, cst.Lambda | cst.GeneratorExp)):
        if isinstance(call, cst.Call) and arrays.makes(scope, call) and id(call) not in scope.within:
            concept = calls.concept_of(scope, call)[1]
            name = scope.fresh(_NAMES.get(concept.rpartition(".")[2], "filled"))
            scope.bound[name] = 1
            statements = arrays.allocation(scope, name, call, node)
            scope.hoist(node, *(statements or ()))
            scope.within[id(call)] = scope.views[name]
