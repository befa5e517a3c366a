"""Plain functions that are host code over the nests in them.

``while size < n: for start in range(0, n, 2 * size): …; size *= 2`` (butterflies, merges, trees) has a few passes,
each of which is a nest with a step that is known when the function is traced. The nest of a pass becomes a function
with the step as a size, and the loop over the passes Python's own, as that of a host over its launches. So are
functions that compute with whole arrays beside their loops (``C = A @ B``, ``mu = X.mean(axis=0)``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import libcst as cst

from kraise.frontends.python.shared_memory import changed_in, shares
from kraise.frontends.python.source import Source, all_of, dotted, placed, rebuilt
from kraise.frontends.python.survey import Definition, Survey, array_code
from kraise.ir import host as h

_MAKE = (
    "__list__",
    "zeros",
    "empty",
    "ones",
    "full",
    "zeros_like",
    "empty_like",
    "ones_like",
    "full_like",
    "copy",
    "array",
)
_FASTER = (cst.MultiplyAssign, cst.LeftShiftAssign, cst.FloorDivideAssign, cst.RightShiftAssign)
_MOVES = (cst.Multiply, cst.LeftShift, cst.FloorDivide, cst.RightShift)
_RANGES = ("range", "prange")


def as_hosts(functions: Mapping[str, Definition], whole: Collection[str] = ()) -> frozenset[str]:
    """The plain functions (and those that numba compiles and no other function calls) that are read as hosts of the
    nests in them: they pass over arrays so, or compute with whole arrays beside their loops (``whole``: by what they
    call)."""
    called = {c for d in functions.values() for c in d.calls}

    def fits(name: str, d: Definition) -> bool:
        plain = d.kind in ("plain", "scalar") or (d.kind == "device" and d.decorated)
        if not plain or d.around or d.method or name in called or shares(d.node) or not _apart(d, functions):
            return False
        if any(passes(loop, functions) for loop in all_of(cst.For | cst.While, d.node.body)):
            return True
        if name in whole or any(returns_new(functions[c].node) for c in d.calls if c in functions):
            return True
        return d.kind != "scalar" and array_code(d.node) is not None

    return frozenset(n for n, d in functions.items() if fits(n, d))


def returns_new(node: cst.FunctionDef) -> bool:
    """Does a function return an array that it makes?"""
    made = {n for n, v in _values(node.body) if _makes(v)}
    return any(_makes(v) or (isinstance(v, cst.Name) and v.value in made) for v in _returned(node))


def reached(names: Collection[str], found: Survey) -> set[str]:
    """The functions, and all that they call."""
    seen: set[str] = set()
    todo = [*names]
    while todo:
        if (name := todo.pop()) in found.functions and name not in seen:
            seen.add(name)
            todo += found.functions[name].calls
    return seen


def with_shapes(source: Source, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with ``x.shape[0]`` for ``len(x)``, but of lists and the like."""
    listed = cst.List | cst.Tuple | cst.ListComp | cst.SimpleString | cst.Dict
    others = {n for n, v in _values(node.body) if isinstance(v, listed)}

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=cst.Name(value=name) as x, star="")]) if (
                name not in others
            ):
                at = cst.SubscriptElement(cst.Index(cst.Integer("0")))
                return cst.Subscript(placed(source, cst.Attribute(x, cst.Name("shape")), inner), [at])
        return None

    return rebuilt(source, node, change)  # type: ignore[no-any-return]


def gives(node: cst.FunctionDef) -> bool:
    """Does a function return something?"""
    return any(True for _ in _returned(node))


def _makes(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.Call) and dotted(value.func).rpartition(".")[2] in _MAKE


def _returned(node: cst.FunctionDef) -> Iterator[cst.BaseExpression]:
    for end in all_of(cst.Return, node.body):
        if isinstance(end.value, cst.Tuple):
            yield from (e.value for e in end.value.elements)
        elif end.value is not None:
            yield end.value


def _apart(d: Definition, functions: Mapping[str, Definition], seen: frozenset[str] = frozenset()) -> bool:
    """Do the functions that a function calls share no memory with it, but for whole arrays that they change as
    statements of their own? What they give is a number, or new."""
    lines = {id(n.value) for n in all_of(cst.Expr, d.node.body)}
    for call in all_of(cst.Call, d.node.body):
        callee = functions.get(d.visible.get(dotted(call.func), ""))
        if callee is None or callee.name in seen:
            continue
        own = _same_as_parameters(callee.node)
        if shares(callee.node) or any(_is_part(v, own) for v in _returned(callee.node)):
            return False
        names = all(isinstance(a.value, cst.Name | cst.BaseNumber) for a in call.args)
        if own & changed_in(callee.node) and not (id(call) in lines and names):
            return False
        if not _apart(callee, functions, seen | {callee.name}):
            return False
    return True


def _same_as_parameters(node: cst.FunctionDef) -> set[str]:
    """The parameters of a function, and the names that it gives them."""
    own = {p.name.value for p in node.params.params}
    while more := {n for n, v in _values(node.body) if isinstance(v, cst.Name) and v.value in own} - own:
        own |= more
    return own


def _is_part(value: cst.BaseExpression, own: set[str]) -> bool:
    """May a value be an array that the caller has, or a part of one?"""
    match value:
        case cst.Name(value=name):
            return name in own
        case cst.Subscript(slice=items):
            cut = len(items) == 1 or any(isinstance(i.slice, cst.Slice) for i in items)
            return cut and bool(_names(value) & own)
        case cst.Attribute() | cst.IfExp():
            return bool(_names(value) & own)
        case cst.Call(func=cst.Attribute(value=cst.Name(value=name))):
            return name in own
    return False


def giving_back(host: h.Host, functions: Mapping[str, Definition]) -> h.Host:
    """A plain function gives back what it changes, beside what it returns."""
    changed = changed_in(functions[host.name].node) if host.name in functions else set()
    return replace(host, in_place=not changed.isdisjoint(p.name for p in host.params))


def passes(loop: Any, functions: Mapping[str, Definition] = MappingProxyType({})) -> bool:
    """Does a loop hold a range in steps of what doubles (or halves) from round to round? It may stand in one of the
    ``functions`` that it calls."""
    steps = list(_steps(loop.body))
    for call in all_of(cst.Call, loop.body):
        called = functions.get(dotted(call.func))
        if called is not None:
            inside = {n for s in _steps(called.node.body) for n in _names(s)}
            given = zip(called.node.params.params, call.args, strict=False)
            steps += [a.value for p, a in given if a.keyword is None and p.name.value in inside]
    return bool(steps) and any(_names(s) & _powers(loop) or _is_power(s) for s in steps)


def _steps(body: cst.BaseSuite) -> Iterator[cst.BaseExpression]:
    """The steps of the ranges that loops run over."""
    for node in all_of(cst.For, body):
        over = node.iter
        if isinstance(over, cst.Call) and dotted(over.func).rpartition(".")[2] in _RANGES and len(over.args) == 3:
            yield over.args[2].value


def _powers(loop: Any) -> set[str]:
    """The names that a loop doubles or halves, sets to powers of two, or makes of these."""
    found: set[str] = set()
    values = list(_values(loop.body))
    for node in all_of(cst.AugAssign, loop.body):
        if isinstance(node.operator, _FASTER) and isinstance(node.target, cst.Name) and _number(node.value):
            found.add(node.target.value)
    found |= {n for n, v in values if _is_power(v) or _doubled(n, v)}
    while more := {n for n, v in values if _names(v) & found and not all_of(cst.Subscript | cst.Call, v)} - found:
        found |= more
    return found


def _values(body: cst.BaseSuite) -> Iterator[tuple[str, cst.BaseExpression]]:
    for node in all_of(cst.Assign, body):
        for t in node.targets:
            if isinstance(t.target, cst.Name):
                yield t.target.value, node.value


def _doubled(name: str, value: cst.BaseExpression) -> bool:
    """``size = size * 2``, ``2 * size``, ``size + size``, ``size // 2``, or a shift."""
    match value:
        case cst.BinaryOperation(left=cst.Name(value=a), operator=cst.Add(), right=cst.Name(value=b)):
            return a == b == name
        case cst.BinaryOperation(left=cst.Name(value=own), operator=how, right=by) if own == name:
            return isinstance(how, _MOVES) and _number(by)
        case cst.BinaryOperation(left=by, operator=cst.Multiply(), right=cst.Name(value=own)):
            return own == name and _number(by)
    return False


def _is_power(value: cst.BaseExpression) -> bool:
    """``1 << s`` or ``2 ** s``, by itself or within a sum or product."""
    return any(
        isinstance(n.operator, cst.LeftShift | cst.Power) and isinstance(n.left, cst.Integer) and not _number(n.right)
        for n in all_of(cst.BinaryOperation, value)
    )


def _number(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Integer)


def _names(node: cst.BaseExpression) -> set[str]:
    return {n.value for n in all_of(cst.Name, node)}


__all__ = ["as_hosts", "gives", "passes", "reached", "with_shapes"]
