"""Members of parameters, and names for elements: ``p[i].x`` for ``q.x`` behind ``q = p[i]``.

Side conditions, checked: such a name is bound once and used behind that in its block only, for members and as what a
function is given; the names in its subscript keep their values meanwhile, and no array there is changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from kraise.frontends.python.scope import bindings
from kraise.frontends.python.shared_memory import changed_in
from kraise.frontends.python.source import Source, all_of, children, rebuilt, subscripted

_OF_ARRAYS = frozenset(("size", "shape", "ndim", "T", "real", "imag", "dtype", "flat", "strides", "itemsize", "nbytes"))
_GIVEN, _MEMBER = 1, 2


def member(node: cst.CSTNode) -> str:
    """``x`` of ``….x`` and ``…['x']``; "" of anything else."""
    match node:
        case cst.Attribute(attr=cst.Name(value=name)):
            return "" if name in _OF_ARRAYS else name
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as text))]):
            value = text.evaluated_value
            return value if isinstance(value, str) and value.isidentifier() else ""
    return ""


def element(node: cst.CSTNode, params: set[str]) -> bool:
    match node:
        case cst.Subscript(value=cst.Name(value=name), slice=items):
            cut = any(isinstance(i.slice, cst.Slice) for i in items)
            return name in params and not cut and not member(node)
    return False


def held_by(n: cst.CSTNode, name: str) -> cst.CSTNode | None:
    """``p`` of ``p.x`` and ``p[i]`` of ``p[i].x``."""
    value = getattr(n, "value", None)
    if isinstance(value, cst.Name) and value.value == name:
        return value
    return value if value is not None and element(value, {name}) else None


def without_names(parsed: Source, node: cst.FunctionDef) -> cst.FunctionDef:
    """``p[i].x`` for ``q.x`` behind ``q = p[i]``."""
    times = bindings(node.body)
    named: dict[str, cst.BaseExpression] = {}
    params = {p.name.value for p in node.params.params}
    changed = changed_in(node) | {""}
    holders = {
        p for n in all_of(cst.Attribute | cst.Subscript, node.body) for p in params if held_by(n, p) and member(n)
    }

    def block(body: Any) -> Any:
        lines: list[Any] = []
        for at, line in enumerate(body):
            match line:
                case cst.SimpleStatementLine(
                    body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)]
                ) if times[name] == 1 and element(value, params):
                    uses = list(_uses(node.body, name))
                    behind = [list(_uses(after, name)) for after in body[at + 1 :]]
                    inside = [after for k, after in enumerate(body[at + 1 :]) if any(behind[k:])]
                    told = [held for held_here in behind for held in held_here]
                    record = _MEMBER in told or subscripted(value) in holders
                    if len(uses) == len(told) + 1 and record and all(told) and _steady(value, inside, changed):
                        named[name] = value
                        continue
            lines.append(line)
        return lines

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        if isinstance(inner, cst.IndentedBlock):
            kept = block(inner.body)
            kept = kept or [cst.SimpleStatementLine([cst.Pass()])]
            same = len(kept) == len(inner.body)
            return inner.with_changes(body=[rebuilt(parsed, s, change) for s in (inner.body if same else kept)])
        if isinstance(inner, cst.Name) and inner.value in named:
            return named[inner.value].deep_clone()
        return None

    return node.with_changes(body=change(node.body))  # type: ignore[arg-type]


def _steady(value: Any, inside: list[Any], changed: set[str]) -> bool:
    """Do the statements in which an element is used leave the names in its subscript alone, and is nothing called
    there, and no array read that is ``changed``?"""
    reads = [n for i in value.slice for n in all_of(cst.Subscript, i)]
    if any(all_of(cst.Call | cst.Attribute, i) for i in value.slice) or any(subscripted(r) in changed for r in reads):
        return False
    names = {n.value for i in value.slice for n in all_of(cst.Name, i)}
    return not any(names & set(bindings(s)) for s in inside)


def _uses(node: cst.CSTNode, name: str) -> Iterator[int]:
    """Of each use of a name: is a member asked for, is a function given it, or is it something else (0)?"""
    own = isinstance(node, cst.Attribute | cst.Subscript) and isinstance(node.value, cst.Name) and member(node)
    if own and node.value.value == name:  # type: ignore[attr-defined]
        yield _MEMBER
        return
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name):
        for a in node.args:
            if isinstance(a.value, cst.Name) and a.value.value == name:
                yield _GIVEN if a.keyword is None else 0
            else:
                yield from _uses(a.value, name)
        return
    if isinstance(node, cst.Name) and node.value == name:
        yield 0
        return
    for below in children(node):
        yield from _uses(below, name)
