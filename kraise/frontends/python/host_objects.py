"""Parameters of Python host functions that are objects, as what is used of them.

``def run(u, grid: Grid)`` with a dataclass or ``NamedTuple`` of the module takes ``grid_nx`` and ``grid_ny`` in place
of ``grid``; so does a parameter without a known class of which nothing but fields is used (``cfg.dx``, ``cfg["dx"]``).

Side conditions, checked: the function gives neither the parameter nor a field of it another value, and uses it in no
other way.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.host_inlined import arguments
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.host_units import Record, assigned
from kraise.frontends.python.source import all_of, dotted, walk

# what arrays, numbers and text have, too: no sign of an object
OF_ARRAYS = frozenset(
    ("shape", "dtype", "size", "ndim", "T", "strides", "flags", "real", "imag", "nbytes", "itemsize", "flat", "base")
)  # fmt: skip


def parameters(node: cst.FunctionDef) -> list[cst.Param]:
    """All parameters but that of the object whose method it is."""
    params = node.params
    every = (*params.posonly_params, *params.params, *params.kwonly_params)
    return [p for p in every if p.name.value not in ("self", "cls")]


def objects(scope: HostScope, node: cst.FunctionDef) -> dict[str, Record]:
    """The parameters that are objects, with their class, or one made of the fields that are used."""
    found: dict[str, Record] = {}
    changed = {n for inner in walk(node.body) for n in assigned(inner)} | set(_fields_set(node))
    for p in parameters(node):
        name = p.name.value
        if name in changed:
            continue
        made = p.default.func if isinstance(p.default, cst.Call) else None
        kind = scope.records.get(_annotation(p)) or (scope.records.get(dotted(made)) if made is not None else None)
        if kind is not None and kind.fields:
            if p.default is None or defaults(kind, p.default) is not None:
                found[name] = kind
        elif p.default is None:
            used = _used(node, name)
            if used:
                found[name] = Record(name, tuple((f, None) for f in used))
    return found


def defaults(kind: Record, given: cst.BaseExpression) -> dict[str, Any] | None:
    """The fields of an object that is a default, ``Grid(64, 64)``, where all are literals; None for another."""
    if not isinstance(given, cst.Call) or dotted(given.func) != kind.name:
        return None
    found = arguments(kind.fields, given.args)
    if found is None or not all(_literal(v) for v in found.values()):
        return None
    return dict(found)


def _literal(value: Any) -> bool:
    if isinstance(value, cst.Tuple):
        return all(isinstance(e.value, cst.Integer | cst.Float) for e in value.elements)
    return isinstance(value, cst.Integer | cst.Float | cst.SimpleString)


def _annotation(p: cst.Param) -> str:
    if p.annotation is None:
        return ""
    said = p.annotation.annotation
    return str(said.evaluated_value) if isinstance(said, cst.SimpleString) else dotted(said)


def _fields_set(node: cst.FunctionDef) -> list[str]:
    """The names whose fields or entries are given another value (elements of a field's array are not)."""
    out: list[str] = []
    for inner in walk(node.body):
        if isinstance(inner, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.For | cst.Del):
            for part in walk(inner.target):
                match part:
                    case cst.Attribute(value=cst.Name(value=name)):
                        out.append(name)
                    case cst.Subscript(
                        value=cst.Name(value=name),
                        slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString()))],
                    ):
                        out.append(name)
    return out


def _used(node: cst.FunctionDef, name: str) -> list[str]:
    """The fields of a parameter that are used; none where it is used in another way."""
    fields: dict[str, None] = {}
    uses = taken = 0
    words = {id(n.keyword) for n in all_of(cst.Arg, node.body)}
    words |= {id(n.attr) for n in all_of(cst.Attribute, node.body)}
    for inner in walk(node.body):
        match inner:
            case cst.Name(value=other) if other == name and id(inner) not in words:
                uses += 1
            case cst.Call(func=cst.Attribute(value=cst.Name(value=other))) if other == name:
                return []
            case cst.Attribute(value=cst.Name(value=other), attr=cst.Name(value=field)) if other == name:
                if field in OF_ARRAYS:
                    return []
                fields[field] = None
                taken += 1
            case cst.Subscript(value=cst.Name(value=other)) if other == name and (word := key(inner)):
                fields[word] = None
                taken += 1
    return list(fields) if uses == taken else []


def key(node: cst.Subscript) -> str:
    """``dx`` of ``cfg["dx"]``; "" for another subscript."""
    match node.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as word))]:
            text = word.evaluated_value
            return text if isinstance(text, str) and text.isidentifier() else ""
    return ""
