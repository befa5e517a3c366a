"""Lists of numbers that a plain function makes (``[0.0] * n``, ``[[0] * m for _ in range(n)]``): arrays of its own.

A list holds whatever is stored in it: its elements are of the type of what that is. It is rewritten to a call that no
source has (``__list__``), which makes such an array.

Side conditions, checked: the name is only ever bound to such lists of one depth, or to a list that changes places with
it (``a, b = b, a``); everything else that is done with it is what lists and arrays have in common: an element by all of
its subscripts, ``len``, a loop over it, ``return``. (``x * 2``, ``x + y``, ``x[1:]``, ``rows[i] = row`` mean other
things of lists, and such a name is left alone.)
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import Source, children, placed, rebuilt, walk

MAKES = "__list__"  # the name of what makes such an array
CONCEPT = "kraise.list"


def as_arrays(parsed: Source, node: cst.FunctionDef, imports: Imports) -> cst.FunctionDef:
    """The function with such lists as arrays; itself where it has none."""
    depths = _depths(node)
    params = [p.name.value for p in walk(node) if isinstance(p, cst.Param)]
    depths = {n: d for n, d in depths.items() if d and n not in params}
    allowed = _allowed(node, depths)
    for name in walk(node.body):
        if isinstance(name, cst.Name) and name.value in depths and id(name) not in allowed:
            depths[name.value] = 0
    lost = {n for n, d in depths.items() if not d}
    while more := {n for group in _swaps(node) if group & lost for n in group} - lost:
        lost |= more
    found = {n: d for n, d in depths.items() if n not in lost}
    if not found or any(isinstance(n, cst.Name) and n.value == MAKES for n in walk(parsed.tree)):
        return node
    imports.bound[MAKES] = CONCEPT

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value) if name in found:
                made = _made(value)
                return None if made is None else inner.with_changes(value=placed(parsed, _call(*made), value))
        return None

    return rebuilt(parsed, node, change)  # type: ignore[no-any-return]


def _call(extents: list[cst.BaseExpression], fill: cst.BaseExpression) -> cst.Call:
    shape = cst.Tuple([cst.Element(e) for e in extents])
    return cst.Call(cst.Name(MAKES), [cst.Arg(shape), cst.Arg(fill)])


def _made(value: cst.BaseExpression) -> tuple[list[cst.BaseExpression], cst.BaseExpression] | None:
    """The extents and the number of a list of so many times one number; None for anything else."""
    match value:
        case cst.BinaryOperation(left=cst.List(elements=[one]), operator=cst.Multiply(), right=count):
            return ([count], one.value) if _is_number(one.value) and _is_count(count) else None
        case cst.BinaryOperation(left=count, operator=cst.Multiply(), right=cst.List(elements=[one])):
            return ([count], one.value) if _is_number(one.value) and _is_count(count) else None
        case cst.ListComp(
            elt=each,
            for_in=cst.CompFor(
                target=cst.Name(value=index),
                iter=cst.Call(func=cst.Name(value="range"), args=[cst.Arg(keyword=None, star="", value=count)]),
                ifs=[],
                inner_for_in=None,
            ),
        ) if _is_count(count) and not any(isinstance(n, cst.Name) and n.value == index for n in walk(each)):
            inner = _made(each)
            if inner is not None:
                return [count, *inner[0]], inner[1]
            return ([count], each) if _is_number(each) else None
    return None


def _is_number(node: cst.BaseExpression) -> bool:
    """Whether an element is a number that is written down: a name may be that of a list."""
    match node:
        case cst.Integer() | cst.Float() | cst.Name(value="True" | "False"):
            return True
        case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
            return _is_number(inner)
        case cst.Attribute(value=cst.Name(value="math" | "np" | "numpy"), attr=cst.Name(value="inf")):
            return True
        case cst.Call(func=cst.Name(value="float"), args=[cst.Arg(value=cst.SimpleString(value=text))]):
            return text.strip("\"'") in ("inf", "-inf")
    return False


def _is_count(node: cst.BaseExpression) -> bool:
    """Whether a number of elements is one of names, lengths and numbers."""
    parts = cst.Name | cst.Integer | cst.BinaryOperation | cst.Call | cst.Attribute | cst.Subscript
    return isinstance(node, parts) and not any(isinstance(n, cst.List | cst.Tuple | cst.ListComp) for n in walk(node))


def _depths(node: cst.FunctionDef) -> dict[str, int]:
    """How many axes the lists of each name have; 0 where it is bound to anything else."""
    swapped = {n for group in _swaps(node) for n in group}
    found: dict[str, int] = {}
    for inner in walk(node.body):
        for name, value in _bound(inner):
            made = _made(value) if value is not None else None
            if made is None and value is not None and name in swapped and _is_swap(inner):
                continue
            depth = len(made[0]) if made is not None else 0
            found[name] = depth if found.get(name, depth) == depth else 0
    for group in _swaps(node):
        if len({found.get(n, 0) for n in group}) > 1:
            found |= dict.fromkeys(group, 0)
    return found


def _bound(node: cst.CSTNode) -> list[tuple[str, cst.BaseExpression | None]]:
    """The names that a statement binds, each with what it is bound to (None: not a value of its own)."""
    match node:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
            return [(name, value)]
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple())]) if _is_swap(node):
            return [(n, node.value) for n in sorted(names_in(node.value))]
        case cst.AssignTarget(target=cst.Name()):
            return []  # said by its assignment
        case cst.Assign(targets=targets):
            return [(n, None) for t in targets for n in targets_of(t.target)]
        case cst.For(target=target) | cst.CompFor(target=target) | cst.AugAssign(target=target):
            return [(n, None) for n in targets_of(target)]
        case cst.NamedExpr(target=target) | cst.AnnAssign(target=target):
            return [(n, None) for n in targets_of(target)]
    return []


def targets_of(node: cst.CSTNode) -> list[str]:
    match node:
        case cst.Name(value=name):
            return [name]
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return [n for e in elements for n in targets_of(e.value)]
    return []


def names_in(node: cst.CSTNode) -> set[str]:
    return {n.value for n in walk(node) if isinstance(n, cst.Name)}


def _is_swap(node: cst.CSTNode) -> bool:
    """``a, b = b, a``."""
    match node:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple() as target)], value=cst.Tuple() as value):
            own, given = ([e.value for e in t.elements] for t in (target, value))
            if all(isinstance(e, cst.Name) for e in (*own, *given)):
                return len(own) == len(given) and names_in(target) == names_in(value)
    return False


def _swaps(node: cst.FunctionDef) -> list[set[str]]:
    return [names_in(n.value) for n in walk(node.body) if isinstance(n, cst.Assign) and _is_swap(n)]


def _allowed(node: cst.FunctionDef, depths: dict[str, int]) -> set[int]:
    """The places of names where a list and an array mean the same."""
    found: set[int] = set()

    def base(inner: cst.CSTNode) -> tuple[cst.Name, int] | None:
        """The name below a chain of subscripts, one number each, and how many there are."""
        if isinstance(inner, cst.Name):
            return inner, 0
        if isinstance(inner, cst.Subscript) and len(inner.slice) == 1 and isinstance(inner.slice[0].slice, cst.Index):
            below = base(inner.value)
            plain = not isinstance(inner.slice[0].slice.value, cst.Tuple)
            return (below[0], below[1] + 1) if below is not None and plain else None
        return None

    def allow(inner: Any, axes: int | None = None) -> None:
        if isinstance(inner, cst.Name) and inner.value in depths and axes is None:
            found.add(id(inner))
        elif (
            axes is not None and (chain := base(inner)) is not None and chain[1] == depths.get(chain[0].value, 0) - axes
        ):
            found.add(id(chain[0]))

    def visit(inner: cst.CSTNode) -> None:
        match inner:
            case cst.Subscript():
                allow(inner, 0)
            case cst.Call(func=cst.Name(value="len"), args=[one]):
                for axes in range(1, 9):
                    allow(one.value, axes)
            case cst.For(iter=over):
                allow(over, 1)
            case cst.Return(value=cst.Tuple(elements=elements)):
                for e in elements:
                    allow(e.value)
            case cst.Return(value=cst.Name() as value):
                allow(value)
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target)]):
                allow(target)
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value) if _is_swap(inner):
                for e in (*target.elements, *value.elements):  # type: ignore[attr-defined]
                    allow(e.value)
        for below in children(inner):
            visit(below)

    visit(node.body)
    return found


def otherwise(body: cst.CSTNode, name: str) -> cst.CSTNode | None:
    """Where something is done with a list that means another thing of an array: ``a * 2`` and ``a + b`` repeat and join
    lists, a slice is a copy; None if nowhere."""

    def is_it(inner: cst.CSTNode) -> bool:
        while isinstance(inner, cst.Subscript) and all(isinstance(e.slice, cst.Slice) for e in inner.slice):
            inner = inner.value
        return isinstance(inner, cst.Name) and inner.value == name

    for inner in walk(body):
        match inner:
            case cst.BinaryOperation(left=left, right=right) if is_it(left) or is_it(right):
                return inner
            case cst.Comparison(left=left, comparisons=others) if any(
                map(is_it, (left, *(c.comparator for c in others)))
            ):
                return inner
            case cst.AugAssign(target=target, value=value) if is_it(target) or is_it(value):
                return inner
            case cst.Assign(value=cst.Subscript() as value) | cst.Return(value=cst.Subscript() as value) if is_it(
                value
            ):
                return inner
    return None
