"""Comparisons: of scalars, in chains, of tuples, and what is in a tuple."""

from __future__ import annotations

import libcst as cst

from kraise.frontends.python import expressions as ex
from kraise.frontends.python.scope import Scope
from kraise.ir.kernel import Expr


def comparison(scope: Scope, node: cst.Comparison) -> Expr:
    """A chain is the conjunction of its pairs; tuples are compared element by element, and searched through."""
    span = scope.span(node)
    if len(node.comparisons) == 1 and (found := _of_tuples(scope, node)) is not None:
        return found
    left = ex.scalar(scope, node.left)
    result: Expr | None = None
    for target in node.comparisons:
        right = ex.scalar(scope, target.comparator)
        name = ex.COMPARISON.get(type(target.operator).__name__)
        if name is None:
            kind = type(target.operator).__name__
            if kind in ("In", "NotIn"):
                reason = "only a tuple or list of numbers that is written out can be searched through"
                raise scope.refuse(node, reason, "write the comparisons, or a loop")
            raise scope.refuse(node, f"the comparison {kind} is not accepted in a kernel")
        pair = ex.op(name, left, right, span=span)
        result = pair if result is None else ex.op("and", result, pair, span=span)
        left = right
    assert result is not None
    return result


def _of_tuples(scope: Scope, node: cst.Comparison) -> Expr | None:
    """``x in (a, b)`` and ``(a, b) < (c, d)``; None for other comparisons."""
    (target,) = node.comparisons
    kind, span = type(target.operator).__name__, scope.span(node)
    right = _elements(scope, target.comparator)
    if kind in ("In", "NotIn") and right:
        left = ex.scalar(scope, node.left)
        left = scope.held(left, "value", node) if scope.may_hoist else left  # else written out again: it does nothing
        found = ex.op("eq", left, right[0], span=span)
        for element in right[1:]:
            found = ex.op("or", found, ex.op("eq", left, element, span=span), span=span)
        return found if kind == "In" else ex.op("not", found, span=span)
    name, own = ex.COMPARISON.get(kind), _elements(scope, node.left) if right else None
    if name is None or not right or not own or len(own) != len(right):
        return None
    if name in ("eq", "ne"):
        found = ex.op(name, own[0], right[0], span=span)
        for a, b in zip(own[1:], right[1:], strict=True):
            found = ex.op("and" if name == "eq" else "or", found, ex.op(name, a, b, span=span), span=span)
        return found
    found = ex.op(name, own[-1], right[-1], span=span)
    for a, b in zip(reversed(own[:-1]), reversed(right[:-1]), strict=True):
        same = ex.op("and", ex.op("eq", a, b, span=span), found, span=span)
        found = ex.op("or", ex.op({"le": "lt", "ge": "gt"}.get(name, name), a, b, span=span), same, span=span)
    return found


def _elements(scope: Scope, node: cst.BaseExpression) -> tuple[Expr, ...] | None:
    """The elements of a tuple or list that is written out, or of a name that stands for one."""
    if isinstance(node, cst.Tuple | cst.List) and all(isinstance(e, cst.Element) for e in node.elements):
        return tuple(ex.scalar(scope, e.value) for e in node.elements)
    return scope.tuples.get(node.value) if isinstance(node, cst.Name) else None
