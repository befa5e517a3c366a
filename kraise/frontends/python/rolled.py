"""``np.roll(u, k)`` in an expression over arrays: its element at i is that of u at ``(i - k) % n``.

``v = np.roll(u, k)`` is a new array of u's type.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from kraise.frontends.python import expressions as ex
from kraise.frontends.python.scope import Scope
from kraise.ir.kernel import Const, Expr, Stmt, Store, Var
from kraise.ir.types import INT


def array(scope: Scope, name: str, call: cst.Call, node: cst.CSTNode) -> list[Stmt] | None:
    """``name = np.roll(u, k)`` of an array u; None of an expression over arrays."""
    from kraise.frontends.python import elementwise

    first = call.args[0].value if call.args else None
    view = ex.access(scope, first) if isinstance(first, cst.Name) else None
    if view is None or not view.rank:
        return None
    span, shape = scope.span(node), scope.extents(view, node)
    indices = elementwise.fresh_indices(scope, view.rank)
    value, shape = elementwise.at_element(scope, call, indices, shape)
    element_type, like = scope.kind(view.array)
    made = replace(elementwise.made(scope, name, shape, like, node), element=element_type)
    places: tuple[Expr, ...] = tuple(Var(i, INT, span=span) for i in indices)
    body: Stmt = Store(name, places, value, span=span)
    return [*scope.taken(), made, elementwise.nest(indices, shape, (body,), span)]


def element(scope: Scope, node: cst.Call) -> Expr:
    """The element that belongs to the one being computed.

    Raises:
        Refused: the array has several axes and the call names none, or the call is of another form.
    """
    from kraise.frontends.python.elementwise import operand

    given = [a.value for a in node.args if a.keyword is None and not a.star]
    named = {a.keyword.value: a.value for a in node.args if a.keyword is not None}
    along = named.pop("axis", given.pop() if len(given) == 3 else None)
    shift = named.pop("shift", given.pop() if len(given) == 2 else None)
    view = operand(scope, given[0]) if len(given) == 1 else None
    known = view is not None and shift is not None and not named and operand(scope, shift) is None
    if view is None or shift is None or not known or scope.element is None or view.rank > len(scope.element):
        raise scope.refuse(node, "np.roll with these arguments is not supported yet", "write the loop", "KR299")
    span, axis = scope.span(node), 0
    if along is not None:
        number = ex.scalar(scope, along)
        axis = number.value if isinstance(number, Const) and type(number.value) is int else view.rank
    if not -view.rank <= axis < view.rank or (along is None and view.rank > 1):
        hint = f"say which of the {view.rank} axes: axis=0"
        raise scope.refuse(node, "np.roll of several axes at once is not supported yet", hint, "KR299")
    place = len(scope.element) - view.rank + axis % view.rank
    by, extent = ex.scalar(scope, shift), scope.extents(view, node)[axis % view.rank]
    back = ex.op("sub", scope.element[place], by, span=span)
    before = scope.element
    scope.element = (*before[:place], ex.op("mod", back, extent, span=span), *before[place + 1 :])
    try:
        return ex.scalar(scope, given[0])
    finally:
        scope.element = before
