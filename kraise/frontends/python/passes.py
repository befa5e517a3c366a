"""Plain functions that are host code over the nests in them.

``while size < n: for start in range(0, n, 2 * size): …; size *= 2`` (butterflies, merges, trees) has a few passes,
each of which is a nest with a step that is known when the function is traced. The nest of a pass becomes a function
with the step as a size, and the loop over the passes Python's own, as that of a host over its launches. So are
functions that compute with whole arrays beside their loops (``C = A @ B``, ``mu = X.mean(axis=0)``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import libcst as cst

from kraise.frontends.python.shared_memory import changed_in, shares
from kraise.frontends.python.source import all_of, dotted
from kraise.frontends.python.survey import Definition, array_code
from kraise.ir import host as h

_FASTER = (cst.MultiplyAssign, cst.LeftShiftAssign, cst.FloorDivideAssign, cst.RightShiftAssign)
_MOVES = (cst.Multiply, cst.LeftShift, cst.FloorDivide, cst.RightShift)
_RANGES = ("range", "prange")


def as_hosts(functions: Mapping[str, Definition]) -> frozenset[str]:
    """The plain functions (and those that numba compiles and no other function calls) that are read as hosts of the
    nests in them: they pass over arrays so, or compute with whole arrays beside their loops."""
    called = {c for d in functions.values() for c in d.calls}

    def fits(name: str, d: Definition) -> bool:
        plain = d.kind in ("plain", "scalar") or (d.kind == "device" and d.decorated)
        if not plain or d.around or d.method or name in called or shares(d.node):
            return False
        if any(passes(loop, functions) for loop in all_of(cst.For | cst.While, d.node.body)):
            return True
        return d.kind != "scalar" and array_code(d.node) is not None

    return frozenset(n for n, d in functions.items() if fits(n, d))


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


__all__ = ["as_hosts", "passes"]
