"""``np.var(e)`` and ``e.std(ddof=1)`` of whole arrays, by what they are: means of squares of what the mean leaves."""

from __future__ import annotations

import libcst as cst

from kraise.frontends.python import elementwise
from kraise.frontends.python import expressions as ex
from kraise.frontends.python.scope import Scope
from kraise.frontends.python.source import placed, walk
from kraise.ir.kernel import Expr


def value(scope: Scope, node: cst.Call, head: str) -> Expr | None:
    """The variance or the standard deviation as a number; None where it is of no array.

    Raises:
        Refused: KR299, for other arguments than ``ddof``.
    """
    assert isinstance(node.func, cst.Attribute)
    of = node.args[0].value if head and node.args else node.func.value
    view = elementwise.operand(scope, of)
    if view is None:
        return None
    rest = node.args[1:] if head else node.args
    if any(a.keyword is None or a.keyword.value != "ddof" or a.star for a in rest):
        name = node.func.attr.value
        raise scope.refuse(node, f"{name} with these arguments is not supported yet", "write the loops", "KR299")
    missing = rest[0].value if rest else cst.Integer("0")
    span = scope.span(node)
    left = cst.BinaryOperation(of, cst.Subtract(), _reduction(node, "mean", of, head))
    size = cst.Call(cst.Name("abs"), [cst.Arg(left)])  # of complex numbers, too
    squares = cst.BinaryOperation(size, cst.Power(), cst.Integer("2"))
    plain = isinstance(missing, cst.Integer) and missing.evaluated_value == 0
    total = _reduction(node, "mean" if plain else "sum", squares, head)
    for inner in walk(total):
        placed(scope.source, inner, node)
    found = ex.scalar(scope, total)
    if not plain:
        count = ex.product(list(scope.extents(view, node)), span)
        found = ex.op("div", found, ex.op("sub", count, ex.scalar(scope, missing), span=span), span=span)
    return ex.op("sqrt", found, span=span) if node.func.attr.value == "std" else found


def _reduction(node: cst.Call, name: str, of: cst.BaseExpression, head: str) -> cst.Call:
    assert isinstance(node.func, cst.Attribute)
    attribute = cst.Name(name)
    if head:
        return cst.Call(node.func.with_changes(attr=attribute), [cst.Arg(of)])
    return cst.Call(cst.Attribute(of, attribute), [])


__all__ = ["value"]
