"""Stores under a mask: ``a[a < 0] = 0``, ``out[m] = x[m]``, ``a[i, m] += 1``, as loops with a branch.

A mask is an array of truths by what it is made of (a comparison, ``&``, ``|``, ``~`` of such), of the shape of what is
stored to; an array of integers would be a gather. What is stored is one number, or made of elements under the same
mask: ``x[m]`` is as many elements as there are, and the one that goes to a place is that of the place. Where the mask
or the value would see what is stored, the store is refused: NumPy has computed both before.
"""

from __future__ import annotations

import libcst as cst

from kraise.frontends.python import elementwise
from kraise.frontends.python import expressions as ex
from kraise.frontends.python.scope import Scope
from kraise.frontends.python.source import placed, rebuilt, walk
from kraise.ir.kernel import ArrayRef, Expr, If, Load, Op, Stmt, Store, Var
from kraise.ir.rewrite import walked
from kraise.ir.types import BOOL, INT


def is_truth(scope: Scope, value: Expr) -> bool:
    """Whether a value is surely a truth."""
    match value:
        case Op(name="and_" | "or_" | "xor" | "invert", args=args):
            return all(is_truth(scope, a) for a in args)
        case Load(array=array):
            return scope.kind(array)[0] == BOOL
    return ex.is_logical(value)


def store(
    scope: Scope, target: cst.BaseExpression, value: cst.BaseExpression, node: cst.CSTNode, name: str = ""
) -> list[Stmt] | None:
    """``target[mask] = value`` (or ``+=`` for the operation ``name``); None if the target has no mask."""
    base, mask = _index(scope, target) or (None, None)
    if base is None or mask is None or elementwise.operand(scope, mask) is None:
        return None
    whole, view = elementwise.operand(scope, mask), ex.access(scope, base)
    if whole is None or view is None or view.rank == 0:
        return None
    span, shape = scope.span(node), scope.extents(view, node)
    indices = elementwise.fresh_indices(scope, view.rank)
    if whole.rank > view.rank:
        return None
    condition, shape = elementwise.at_element(scope, mask, indices, shape)
    if not is_truth(scope, condition):
        return None
    if whole.rank < view.rank:
        reason = f"the mask has {whole.rank} axes, and what is stored to {view.rank}"
        raise scope.refuse(target, reason, "write the loops", "KR104")
    at = view.at(tuple(Var(i, INT, span=span) for i in indices))
    element, under = _under(scope, value, mask)
    if under:
        given, shape = elementwise.at_element(scope, element, indices, shape)
    elif elementwise.operand(scope, value) is not None:
        reason = "under a mask, one number is stored, or elements under the same mask"
        raise scope.refuse(value, reason, "write x[mask] for the array x, or the loops", "KR104")
    else:
        given = ex.scalar(scope, value)
        scope.numbers += [(n, (*indices,)) for n in sorted(ex.values(given))]
        given = scope.frozen(given, "value", node) if view.array in ex.variables(given)[1] else given
    for part in (condition, given):
        if elementwise.moves(part, view.array, at.subscripts, set(indices)):
            reason = f"the mask, or what is stored under it, reads other elements of {view.array}"
            raise scope.refuse(node, reason, "give the mask a name before", "KR299")
    arrays = {n.array for n in walked((condition, given)) if isinstance(n, Load | ArrayRef)} | {view.array}
    if len(arrays) > 1:  # NumPy aligns them otherwise where one has more axes
        scope.numbers += [(n, (*indices,)) for n in sorted(arrays)]
    stored = ex.op(name, ex.load(scope, at, node), given, span=span) if name else given
    kept = Store(view.array, at.subscripts, stored, span=span)  # type: ignore[arg-type]
    return [elementwise.nest(indices, shape, (If(condition, (kept,), span=span),), span)]


def _index(scope: Scope, target: cst.CSTNode) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """What is subscripted, and the index that may be a mask: the last one, of the part that the numbers before it
    leave (``a[i]`` of ``a[i, m]``)."""
    match target:
        case cst.Subscript(slice=[*before, cst.SubscriptElement(slice=cst.Index(value=index, star=None | ""))]):
            kinds = cst.Name | cst.Comparison | cst.BinaryOperation | cst.UnaryOperation | cst.Call
            plain = all(isinstance(e.slice, cst.Index) and _number(scope, e.slice.value) for e in before)
            if isinstance(index, kinds) and plain:
                part = target.with_changes(slice=before) if before else target.value
                return placed(scope.source, part, target) if before else part, index
    return None


def _number(scope: Scope, index: cst.BaseExpression) -> bool:
    if isinstance(index, cst.Tuple | cst.Ellipsis) or (isinstance(index, cst.Name) and index.value in scope.tuples):
        return False
    return elementwise.operand(scope, index) is None


def _under(scope: Scope, value: cst.BaseExpression, mask: cst.BaseExpression) -> tuple[cst.BaseExpression, bool]:
    """The value with ``x`` for ``x[mask]``, and whether all arrays in it stand so."""
    text = _text(mask)

    def change(inner: cst.CSTNode, bare: bool) -> cst.CSTNode | None:
        found = _index(scope, inner)
        if found is None or _text(found[1]) != text:
            return None
        return cst.Integer("0") if bare else found[0]

    new = rebuilt(scope.source, value, lambda n: change(n, False))
    if new is value:
        return value, False
    rest = rebuilt(scope.source, value, lambda n: placed(scope.source, c, n) if (c := change(n, True)) else None)
    return new, elementwise.operand(scope, rest) is None


def _text(node: cst.BaseExpression) -> str:
    return " ".join(
        f"{type(n).__name__}:{getattr(n, 'value', '') if isinstance(n, cst.Name | cst.BaseNumber) else ''}"
        for n in walk(node)
    )


__all__ = ["is_truth", "store"]
