"""Names whose every value is an array that is made there (``prev = cur.copy()`` in each round): one array, filled anew.

Nobody sees that the memory is another one, as long as no part of it has a name of its own. The first is made before
anything that may be skipped or repeated; all have one shape and one type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import libcst as cst

from kraise.diagnostics import Span
from kraise.frontends.python.source import all_of
from kraise.frontends.python.views import minus
from kraise.ir.kernel import Const, Expr, For, Load, LocalArray, Op, Shape, Stmt, Store, Var
from kraise.ir.rewrite import rewritten
from kraise.ir.types import FLOAT, INT, INT64, NUMBER

if TYPE_CHECKING:
    from kraise.frontends.python.scope import Scope


def names(scope: Scope) -> set[str]:
    """The names of a function that are such arrays."""
    body = scope.definition.node.body
    times: dict[str, int] = {}
    for node in all_of(cst.Assign, body):
        if (name := _made(scope, node)) is not None:
            times[name] = times.get(name, 0) + 1
    first = {n.value for s in body.body if isinstance(s, cst.SimpleStatementLine) for n in _made_by(scope, s)}
    several = {n for n, count in times.items() if count > 1 and count == scope.times_made(n)}
    return {n for n in several & first if scope.ranks.get(n) and n not in scope.params}


def _made_by(scope: Scope, line: cst.SimpleStatementLine) -> list[cst.Name]:
    return [s.targets[0].target for s in line.body if isinstance(s, cst.Assign) and _made(scope, s)]  # type: ignore[misc]


def _made(scope: Scope, node: cst.Assign) -> str | None:
    """The one name that is bound to an array made here."""
    from kraise.frontends.python.calls import concept_of

    target, value = node.targets[0].target, node.value
    if len(node.targets) > 1 or not isinstance(target, cst.Name) or not isinstance(value, cst.Call):
        return None
    method = value.func.attr.value if isinstance(value.func, cst.Attribute) else ""
    made = concept_of(scope, value)[1].startswith(("alloc", "ramp.", "copy", "roll")) or (
        method == "copy" and not value.args
    )
    return target.value if made else None


def same(scope: Scope, arrays: list[str], node: cst.CSTNode, what: str) -> None:
    """Refuses arrays of different shapes or types.

    Raises:
        Refused: KR299.
    """
    shapes = {tuple(map(scope.resolved, scope.shapes[a])) for a in arrays}
    if len(shapes) > 1:
        raise scope.refuse(node, f"{what}, and may have different shapes", "make them with the same shape", "KR299")
    same_types(scope, arrays, node, what)


def agreed(scope: Scope, arrays: list[str], node: cst.CSTNode, what: str) -> tuple[Expr, ...]:
    """The extents that arrays have in common, which is checked where their texts differ; they are of one type.

    Raises:
        Refused: KR299.
    """
    shapes = [scope.shapes[a] for a in arrays]
    gaps = [minus(scope.resolved(x), scope.resolved(y)) for s in shapes for x, y in zip(shapes[0], s, strict=False)]
    if len(set(map(len, shapes))) > 1 or any(isinstance(g, Const) and g.value != 0 for g in gaps):
        raise scope.refuse(node, f"{what}, and may have different shapes", "make them with the same shape", "KR299")
    same_types(scope, arrays, node, what)
    found = list(shapes[0])
    wholes = [_whole(s) for s in shapes]
    given = sorted({w for w in wholes if w is not None})
    if None not in wholes and set(given) <= set(scope.params):
        scope.congruent |= {(other, given[0]) for other in given[1:]}
        return tuple(found)
    for axis, first in enumerate(shapes[0]):
        others = {scope.resolved(s[axis]): s[axis] for s in shapes}
        del others[scope.resolved(first)]
        for other in others.values():
            found[axis] = Op("same_extent", (found[axis], other), INT, span=scope.span(node))
    return tuple(found)


def _whole(shape: tuple[Expr, ...]) -> str | None:
    """The array whose shape it is."""
    arrays = {e.array for e in shape if isinstance(e, Shape)}
    places = [e.axis for e in shape if isinstance(e, Shape)]
    return arrays.pop() if len(arrays) == 1 and places == list(range(len(shape))) else None


def with_one_shape(scope: Scope, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The statements in which parameters that must be of one shape, or of one type, have the first one's."""
    shapes, types = dict(scope.congruent), dict(scope.alike)

    def change(x: Any) -> Any:
        match x:
            case Shape(array=array) if array in shapes:
                return replace(x, array=shapes[array])
            case LocalArray(like=like, shape=shape) if like in types:
                return replace(x, like=types[like], shape=rewritten(shape, change))
        return None

    return rewritten(body, change) if shapes or types else body


def same_types(scope: Scope, arrays: list[str], node: cst.CSTNode, what: str) -> None:
    """Refuses arrays of different types. That parameters are of one type, or of numpy's floats, is checked.

    Raises:
        Refused: KR299.
    """
    kinds = {scope.kind(a) for a in arrays}
    if kinds == {(INT, ""), (INT64, "")}:
        return  # np.arange is of np.int64
    if len(kinds) > 1:
        given = {like for element, like in kinds if like}
        if all(like for _, like in kinds) and given <= set(scope.params):
            first, *others = sorted(given)
            scope.alike |= {(other, first) for other in others}
            return
        if {e for e, like in kinds if not like} != {FLOAT} or not given <= set(scope.params):
            raise scope.refuse(node, f"{what}, and may have different types", "make them with the same dtype", "KR299")
        scope.floats |= given


def again(scope: Scope, name: str, fresh: str, made: list[Stmt], node: cst.CSTNode) -> list[Stmt]:
    """The statements after which ``name`` holds what ``fresh`` does, which ``made`` makes."""
    parts = [n for n, v in scope.views.items() if v.array == name and n != name]
    if parts or scope.exchanges.of(name):
        why = f"{name} is made again, and a part of it has the name {parts[0]}" if parts else f"{name} changes places"
        raise scope.refuse(node, why, "use another name", "KR299")
    same(scope, [name, fresh], node, f"the arrays that are called {name} are made again")
    span, extents = scope.span(node), scope.shapes[name]
    arrays = [s for s in made if isinstance(s, LocalArray)]
    if not _reads(made, name):
        left = [s for s in made if s not in arrays]
        (array,) = arrays
        if array.fill is None and left:
            return list(rewritten(tuple(left), lambda x: _stored(x, fresh, name)))
        if array.fill is not None and not left:
            return _cells(scope, name, extents, lambda _: array.fill, span)  # type: ignore[arg-type,return-value]
    return [*made, *_cells(scope, name, extents, lambda cell: Load(fresh, cell, NUMBER, span=span), span)]


def _reads(statements: list[Stmt], name: str) -> bool:
    """Whether something of an array goes into what they store."""
    seen: list[object] = []
    rewritten(tuple(statements), lambda x: seen.append(x) if getattr(x, "array", "") == name else None)
    return bool(seen)


def _stored(x: Any, fresh: str, name: str) -> Any:
    return replace(x, array=name) if isinstance(x, Store) and x.array == fresh else None


def _cells(
    scope: Scope, name: str, extents: tuple[Expr, ...], value: Callable[[tuple[Expr, ...]], Expr], span: Span | None
) -> list[Stmt]:
    indices = [scope.fresh_index() for _ in extents]
    scope.bound.update(indices)
    cell = tuple(Var(i, INT, span=span) for i in indices)
    body: list[Stmt] = [Store(name, cell, value(cell), span=span)]
    for index, extent in zip(reversed(indices), reversed(extents), strict=True):
        start, step = Const(0, INT, span=span), Const(1, INT, span=span)
        body = [For(index, start, extent, step, tuple(body), False, INT, span=span)]
    return body
