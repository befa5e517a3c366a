"""Names of a plain function that share memory with an array that changes: ``r = A[0]`` is no copy in NumPy.

A host function takes what a name is bound to for a value, but for whole arrays, whose memory is followed. Side
condition of reading a plain function as one: no name stands for a part or another view of an array (``A[0]``, ``A.T``,
``A.reshape(-1)``, ``for row in A``) of which one or the other is changed in place anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import libcst as cst

from kraise.frontends.python.source import all_of, dotted, walk

_VIEWS = frozenset((
    "reshape", "ravel", "view", "transpose", "squeeze", "swapaxes", "asarray", "ascontiguousarray", "asfortranarray",
    "asanyarray", "atleast_1d", "atleast_2d", "moveaxis", "expand_dims", "broadcast_to", "diagonal", "diag", "real",
    "imag", "T", "flat", "mT", "astype", "array", "split", "array_split", "nditer", "flip", "flipud", "fliplr", "rot90",
    "enumerate", "zip", "reversed", "iter", "list", "tuple",
))  # fmt: skip
_MADE = frozenset(("zeros", "ones", "empty", "arange", "linspace"))


def shares(node: cst.FunctionDef) -> bool:
    """Does a name stand for a part of an array that changes, or change a part of one?"""
    changed = changed_in(node)
    axes: dict[str, int] = {}
    for s in all_of(cst.Subscript, node.body):
        axes[dotted(s.value)] = max(axes.get(dotted(s.value), 0), len(s.slice))
    vectors = set(_vectors(node))
    nests = {id(n) for loop in all_of(cst.For, node.body) if _over_range(loop) for n in walk(loop.body)}
    for name, value, place in _bound(node):
        for array in _seen(value, axes, vectors, id(place) in nests):
            if array != name and changed & {name, array}:
                return True
    return False


def changed_in(node: cst.FunctionDef) -> set[str]:
    """The names of what a function changes in place, or may."""
    return set(_changes(node))


def _changes(node: cst.FunctionDef) -> Iterator[str]:
    for target in (t.target for t in all_of(cst.AugAssign | cst.AssignTarget, node.body)):
        for part in _parts(target):
            while isinstance(part, cst.Subscript | cst.Attribute):
                part = part.value
                if isinstance(part, cst.Name):
                    yield part.value
    for aug in all_of(cst.AugAssign, node.body):
        if isinstance(aug.target, cst.Name):
            yield aug.target.value
    for line in all_of(cst.Expr, node.body):  # of a call for what it does
        yield from (n.value for n in all_of(cst.Name, line))


def _bound(node: cst.FunctionDef) -> Iterator[tuple[str, cst.BaseExpression, cst.CSTNode]]:
    """Names, what they are bound to (or run over), and where."""
    for assign in all_of(cst.Assign | cst.NamedExpr, node.body):
        targets = [t.target for t in assign.targets] if isinstance(assign, cst.Assign) else [assign.target]
        for target in targets:
            pairs = [(target, assign.value)]
            if isinstance(target, cst.Tuple) and isinstance(assign.value, cst.Tuple):
                pairs = list(zip(_parts(target), _parts(assign.value), strict=False))
            for left, right in pairs:
                yield from ((p.value, right, assign) for p in _parts(left) if isinstance(p, cst.Name))
    for loop in all_of(cst.For, node.body):
        if not _over_range(loop):
            yield from ((n.value, loop.iter, loop) for n in all_of(cst.Name, loop.target))


def _seen(value: cst.BaseExpression, axes: Mapping[str, int], vectors: set[str], in_nest: bool) -> Iterator[str]:
    """The arrays of which an expression is a part, or another view; not of a whole one, whose memory is followed."""
    match value:
        case cst.Subscript(value=cst.Attribute(attr=cst.Name(value="shape" | "strides"))):
            return
        case cst.Subscript(value=inner, slice=items):
            name, count = dotted(inner), len(items)
            numbers = all(isinstance(i.slice, cst.Index) and _is_place(i.slice.value) for i in items)
            known = count == axes.get(name) and (count > 1 or in_nest or name in vectors)
            if not (numbers and known):
                yield from _whole(inner)
        case cst.Attribute(value=inner, attr=attr) if attr.value in _VIEWS:
            yield from _whole(inner)
        case cst.Call(func=func, args=args) if dotted(func).rpartition(".")[2] in _VIEWS or (
            isinstance(func, cst.Attribute) and func.attr.value in _VIEWS
        ):
            if isinstance(func, cst.Attribute) and dotted(func.value) not in ("np", "numpy"):
                yield from _whole(func.value)
            for a in args:
                yield from _whole(a.value)
        case cst.IfExp(body=a, orelse=b):
            yield from (*_seen(a, axes, vectors, in_nest), *_seen(b, axes, vectors, in_nest))


def _whole(node: cst.BaseExpression) -> Iterator[str]:
    yield from (n.value for n in all_of(cst.Name, node))


def _is_place(node: cst.BaseExpression) -> bool:
    """Is a subscript a number by its form? (An array of places makes a copy, and a number has none.)"""
    return not any(isinstance(n, cst.Ellipsis | cst.Tuple | cst.List | cst.Comparison) for n in walk(node))


def _vectors(node: cst.FunctionDef) -> Iterator[str]:
    """Names of arrays that surely have one axis."""
    for assign in all_of(cst.Assign, node.body):
        match assign:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Call(func=func, args=[first, *_])
            ) if dotted(func).rpartition(".")[2] in _MADE and not isinstance(first.value, cst.Tuple | cst.Name):
                yield name


def _parts(target: cst.BaseExpression) -> list[cst.BaseExpression]:
    if isinstance(target, cst.Tuple | cst.List):
        return [p for e in target.elements for p in _parts(e.value)]
    return [target]


def _over_range(loop: cst.For) -> bool:
    return isinstance(loop.iter, cst.Call) and dotted(loop.iter.func).rpartition(".")[2] in ("range", "prange")


__all__ = ["changed_in", "shares"]
