"""Subscripts and slices: which axes they leave free, and the part of an array that they stand for."""

from __future__ import annotations

import libcst as cst

from kraise.frontends.python import expressions as ex
from kraise.frontends.python.scope import Scope
from kraise.frontends.python.views import Part, Piece, View, minus, plus
from kraise.ir.kernel import Const, Expr, Op
from kraise.ir.types import INT


def free_axes(scope: Scope, node: cst.CSTNode) -> int:
    """How many axes of an array a name or a chain of subscripts leaves free; 0 for what is no array.

    Nothing is lowered: a subscript may hold a call with effects.
    """
    if isinstance(node, cst.Name):
        name = node.value
        if name in scope.views:
            return scope.views[name].rank
        if name in scope.bound or name in scope.params or name in scope.substitutions:
            return 0
        constant = scope.constants.get(name)
        return len(constant.shape) if constant is not None else 0
    if not isinstance(node, cst.Subscript):
        return 0
    used = 0
    for item in node.slice:
        if isinstance(item.slice, cst.Index):
            index = item.slice.value
            if isinstance(index, cst.Tuple):
                used += len(index.elements)
            elif isinstance(index, cst.Name) and index.value in scope.tuples:
                used += len(scope.tuples[index.value])
            else:
                used += not isinstance(index, cst.Ellipsis)
    return max(0, free_axes(scope, node.value) - used)


def element(scope: Scope, view: View, node: cst.CSTNode) -> Expr:
    """Inside an array expression: the element of a part of an array that belongs to the element being computed."""
    assert scope.element is not None
    if view.rank > len(scope.element):
        raise scope.refuse(node, f"{view.rank} axes where {len(scope.element)} are computed", "", "KR104")
    extents = scope.extents(view, node)
    scope.beside += [(view.rank - at, e) for at, e in enumerate(extents)]
    return ex.load(scope, view.at(scope.element[len(scope.element) - view.rank :]), node)


def subscripts(scope: Scope, node: cst.Subscript, view: View) -> tuple[Part, ...]:
    """The subscripts of one pair of brackets; None for a full slice. A negative constant counts from the end."""
    before, scope.element = scope.element, None
    try:
        return _subscripts(scope, node, view)
    finally:
        scope.element = before


def _subscripts(scope: Scope, node: cst.Subscript, view: View) -> tuple[Part, ...]:
    found: list[Part] = []
    extents = scope.extents(view, node)
    elements: list[cst.BaseExpression | cst.Slice] = []
    for element in node.slice:
        inner = element.slice
        if not isinstance(inner, cst.Index):
            elements.append(inner)  # type: ignore[arg-type]
        elif isinstance(inner.value, cst.Tuple):
            elements.extend(e.value for e in inner.value.elements)
        else:
            elements.append(inner.value)
    for part in elements:
        if isinstance(part, cst.Ellipsis):
            left = len(extents) - len(elements) + 1
            if left <= 0 or sum(isinstance(e, cst.Ellipsis) for e in elements) > 1:
                reason = f"nothing says how many axes of {view.array} the dots stand for"
                raise scope.refuse(part, reason, "write one subscript for each axis", "KR101")
            found += [None] * left
            continue
        if isinstance(part, cst.Slice):
            if part.lower is not None or part.upper is not None or part.step is not None:
                if len(found) >= len(extents):
                    raise scope.refuse(part, f"{view.array} has {len(view.subscripts)} axes, not more", "", "KR104")
                found.append(piece(scope, part, extents[len(found)]))
                continue
            found.append(None)
            continue
        if isinstance(part, cst.Name) and part.value in scope.tuples:
            found.extend(scope.tuples[part.value])
            continue
        value = ex.scalar(scope, part)
        if scope.definition.kind == "plain" and ex.is_logical(value):
            reason = "a truth as a subscript: NumPy takes it for a mask"
            raise scope.refuse(part, reason, "write int(…), or make it an array of truths", "KR104")
        if isinstance(value, Const) and isinstance(value.value, int) and value.value < 0 and len(found) < len(extents):
            value = ex.op("sub", extents[len(found)], ex.integer(-value.value, value.span), span=value.span)
        found.append(value)
    return tuple(found)


def piece(scope: Scope, node: cst.Slice, extent: Expr) -> Piece:
    """A slice of an axis, by Python's rule: a bound beyond the end is the end, one below zero counts from there."""
    step = 1
    if node.step is not None:
        given = ex.scalar(scope, node.step)
        if not (isinstance(given, Const) and type(given.value) is int and given.value):
            hint = "write the loop: for k in range(start, len(a), step): a[k] = …"
            raise scope.refuse(node, "the step of a slice must be a constant that is not 0", hint, "KR104")
        step = given.value
    if step < 0:
        start = _bound(scope, "slice_last", node.lower, minus(extent, ex.integer(1, extent.span)), extent)
        count = minus(start, _bound(scope, "slice_before", node.upper, ex.integer(-1, extent.span), extent))
    else:
        start, stop = bounds(scope, node, extent)
        count = minus(stop, start)
    if abs(step) > 1:
        count = ex.op(
            "floordiv",
            plus(count, ex.integer(abs(step) - 1, count.span)),
            ex.integer(abs(step), count.span),
            span=count.span,
        )
    return Piece(start, count, step)


def bounds(scope: Scope, node: cst.Slice, extent: Expr) -> tuple[Expr, Expr]:
    """Where a slice with a step above zero begins and ends."""
    start = _bound(scope, "slice_start", node.lower, ex.integer(0, scope.span(node)), extent)
    return start, _bound(scope, "slice_stop", node.upper, extent, extent)


def _bound(scope: Scope, name: str, node: cst.BaseExpression | None, default: Expr, extent: Expr) -> Expr:
    """One bound of a slice. Where it is not known to lie within the axis it is an operation of its own; a start beyond
    the end may stay as it is, for nothing is left then."""
    if node is None:
        return default
    value = ex.scalar(scope, node)
    number = value.value if isinstance(value, Const) and type(value.value) is int else None
    if number is not None and number < 0:
        return minus(extent, ex.integer(-number, value.span))
    if _turned(value):  # of -q it is nothing for q = 0, and a part of the array for others
        reason = "a bound of a slice below zero that is no constant: it counts from the end unless it is 0"
        raise scope.refuse(node, reason, "say where it is, from the start: x[n - q :] for x[-q:]", "KR104")
    if value == extent or number == 0 or (number is not None and name in ("slice_start", "slice_before")):
        return value
    return Op(name, (value, extent), INT, span=scope.span(node))


def _turned(value: Expr) -> bool:
    """Whether all but the constants in a sum is taken away: ``-q - 1``, ``2 - q``."""
    return _signs(value, 1) == {-1}


def _signs(value: Expr, sign: int) -> set[int]:
    """With what signs a sum has terms that are no constants."""
    match value:
        case Const():
            return set()
        case Op(name="neg", args=(inner,)):
            return _signs(inner, -sign)
        case Op(name="add" | "sub" as name, args=(first, second)):
            return _signs(first, sign) | _signs(second, -sign if name == "sub" else sign)
        case (
            Op(name="mul", args=(Const(value=int() as c), other))
            | Op(name="mul", args=(other, Const(value=int() as c)))
        ):
            return _signs(other, sign if c > 0 else -sign) if c else set()
    return {sign}
