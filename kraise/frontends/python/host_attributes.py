"""Attributes that hold a tuple or a list of arrays, as attributes of their own.

``self.u = [a, b]`` of ``__init__`` is ``self.u_0 = a`` and ``self.u_1 = b``; ``self.u[0]`` is ``self.u_0``, and
``self.u`` elsewhere ``(self.u_0, self.u_1)``. Only attributes that are assigned once, in ``__init__``.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import libcst as cst

from kraise.frontends.python.host_objects import OF_ARRAYS, key
from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import Source, all_of, dotted, placed, rebuilt, walk

MOST = 16


def parted(source: Source, node: cst.ClassDef, kept: set[str]) -> cst.ClassDef:
    """The class with such attributes apart; ``kept`` are the attributes that stay as they are."""
    times: dict[str, int] = {}
    for inner in walk(node.body):
        match inner:
            case cst.AssignTarget(target=target) | cst.AugAssign(target=target):
                for name in _attributes(target):
                    times[name] = times.get(name, 0) + 1
    parts: dict[str, list[cst.BaseExpression]] = {}
    for method in node.body.body:
        if isinstance(method, cst.FunctionDef) and method.name.value == "__init__":
            for line in method.body.body:
                for small in line.body if isinstance(line, cst.SimpleStatementLine) else ():
                    match small:
                        case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute() as target)], value=value):
                            (name,) = _attributes(target) or ("",)
                            found = _elements(source, value) or _of_default(method, value)
                            if name and name not in kept and times[name] == 1 and found and 2 <= len(found) <= MOST:
                                parts[name] = found
    if not parts:
        return node

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.SimpleStatementLine(body=[cst.Assign(targets=[cst.AssignTarget(target=target)])]) if (
                isinstance(target, cst.Attribute) and _attributes(target) and _attributes(target)[0] in parts
            ):
                name = _attributes(target)[0]
                lines = [
                    cst.Assign([cst.AssignTarget(_attribute(f"{name}_{n}"))], rebuilt(source, e, change))
                    for n, e in enumerate(parts[name])
                ]
                return inner.with_changes(body=lines)
            case cst.Subscript(value=owner, slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer() as at))]):
                (name,) = _attributes(owner) or ("",)
                if name in parts and at.evaluated_value < len(parts[name]):
                    return _attribute(f"{name}_{at.evaluated_value}")
            case cst.Attribute() if _attributes(inner) and _attributes(inner)[0] in parts:
                name = _attributes(inner)[0]
                return cst.Tuple([cst.Element(_attribute(f"{name}_{n}")) for n in range(len(parts[name]))])
        return None

    new: cst.ClassDef = rebuilt(source, node, change)
    return new


def grown(source: Source, node: cst.ClassDef, imports: Imports) -> cst.ClassDef:
    """The class with arrays for its lists of numbers: ``self.energies = []`` is an array without elements, and
    ``self.energies.append(e)`` one with an element more, after a loop with those of all rounds."""
    numpy = next((n for n, q in imports.bound.items() if q == "numpy"), "")
    lists = [_attributes(t.target)[0] for n in walk(node.body) for t in getattr(n, "targets", ())
             if isinstance(n, cst.Assign) and isinstance(n.value, cst.List) and not n.value.elements
             and isinstance(t.target, cst.Attribute) and _attributes(t.target)]  # fmt: skip
    appends = [n for n in all_of(cst.Call, node.body) if _appended(n) in lists]
    lists = [n for n in set(lists) if lists.count(n) == 1 and any(_appended(a) == n for a in appends)]
    values = [a.args[0].value for a in appends]
    if not numpy or not lists or any(isinstance(v, cst.Tuple | cst.List | cst.Dict) or _whole(v) for v in values):
        return node
    if not all(_in_order(node, name) for name in lists):
        return node

    def join(name: str, more: str) -> Any:
        return cst.parse_statement(f"self.{name} = {numpy}.concatenate((self.{name}, {numpy}.array({more})))")

    def line(statement: Any) -> list[Any]:
        own = [n for n in lists if any(_appended(c) == n for c in all_of(cst.Call, statement))]
        if not own:
            return [rebuilt(source, statement, change)]
        if isinstance(statement, cst.For):  # of which the rounds are counted where it is read
            local = {n: f"{n}_added" for n in own}
            new = rebuilt(source, statement, lambda inner: _on_local(inner, local))
            before = [cst.parse_statement(f"{local[n]} = []") for n in own]
            return [*before, new, *(join(n, local[n]) for n in own)]
        match statement:
            case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call() as call)]):
                made = join(own[0], "[value]")
                return [made.visit(_Valued(call.args[0].value))]
        return [rebuilt(source, statement, change)]

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.IndentedBlock(body=body) if any(
                isinstance(c, cst.Call) and _appended(c) in lists for c in walk(inner)
            ):
                lines = [new for statement in body for new in line(statement)]
                for new, old in ((n, body[0]) for n in lines):
                    for part in walk(new):
                        placed(source, part, old)
                return inner.with_changes(body=lines)
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Attribute() as target)], value=cst.List(elements=[])
            ) if _attributes(target) and _attributes(target)[0] in lists:
                return inner.with_changes(value=cst.parse_expression(f"{numpy}.zeros(0, dtype={numpy}.float32)"))
        return None

    new: cst.ClassDef = rebuilt(source, node, change)
    return new


def _in_order(node: cst.ClassDef, name: str) -> bool:
    """Do all appends to a list stand in a method's own lines, or in a loop among these that does nothing else with it?
    Neither is called in a loop."""
    methods = {m.name.value: m for m in node.body.body if isinstance(m, cst.FunctionDef)}
    touches = {m for m, body in methods.items() if _mentions(body, name)}
    while more := {m for m, body in methods.items() if _calls(body) & touches} - touches:
        touches |= more
    for method in methods.values():
        for line in method.body.body if isinstance(method.body, cst.IndentedBlock) else ():
            times = sum(isinstance(n, cst.Call) and _appended(n) == name for n in walk(line))
            loops = list(all_of(cst.For | cst.While, line))
            if any(_calls(loop) & touches for loop in loops):
                return False
            if times and isinstance(line, cst.For):
                if times > 1 or _mentions(line, name) > 1:
                    return False
            elif times and (times > 1 or _mentions(line, name) > 1 or not isinstance(line, cst.SimpleStatementLine)):
                return False
    return True


def _mentions(node: cst.CSTNode, name: str) -> int:
    return sum(isinstance(n, cst.Attribute) and _attributes(n) == [name] for n in walk(node))


def _calls(node: cst.CSTNode) -> set[str]:
    """The methods of self that are called."""
    return {_attributes(n.func)[0] for n in all_of(cst.Call, node) if _attributes(n.func)}


class _Valued(cst.CSTTransformer):
    """An expression in place of the name ``value``."""

    def __init__(self, value: cst.BaseExpression):
        super().__init__()
        self.value = value

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return self.value if updated_node.value == "value" else updated_node


def _appended(call: cst.Call) -> str:
    """``energies`` of ``self.energies.append(e)``."""
    match call:
        case cst.Call(func=cst.Attribute(value=cst.Attribute() as owner, attr=cst.Name(value="append")), args=[_]):
            return (_attributes(owner) or [""])[0]
    return ""


def _on_local(node: cst.CSTNode, local: dict[str, str]) -> cst.CSTNode | None:
    """``energies_added.append(e)`` for ``self.energies.append(e)``."""
    if isinstance(node, cst.Call) and _appended(node) in local:
        return cst.Call(cst.Attribute(cst.Name(local[_appended(node)]), cst.Name("append")), node.args)
    return None


def _whole(value: cst.BaseExpression) -> bool:
    """Is it an array as it stands?"""
    match value:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="copy_to_host" | "copy" | "get"))):
            return True
    return False


def without_objects(source: Source, node: cst.ClassDef) -> cst.ClassDef:
    """The class with the fields of an object that ``__init__`` is given, or of a dict that it makes, as attributes of
    their own: ``self.grid_nx`` for ``self.grid.nx``, ``self.sizes_nx`` for ``self.sizes["nx"]``. Only an attribute that
    is set once, and of which nothing but fields is used."""
    init = next((m for m in node.body.body if isinstance(m, cst.FunctionDef) and m.name.value == "__init__"), None)
    if init is None:
        return node
    given = {p.name.value for p in (*init.params.params, *init.params.kwonly_params)}
    whole: Counter[str] = Counter()
    fields: dict[str, dict[str, None]] = {}
    origin: dict[str, str] = {}
    entries: dict[str, dict[str, cst.BaseExpression]] = {}
    for inner in walk(node.body):
        for name in _attributes(inner) if isinstance(inner, cst.Attribute) else ():
            whole[name] += 1
        match inner:
            case cst.Attribute(value=cst.Attribute() as owner, attr=cst.Name(value=field)) if _attributes(owner):
                (name,) = _attributes(owner)
                fields.setdefault(name, {})[field] = None
                whole[name] -= 1
            case cst.Subscript(value=cst.Attribute() as owner) if _attributes(owner) and (word := key(inner)):
                fields.setdefault(_attributes(owner)[0], {})[word] = None
                whole[_attributes(owner)[0]] -= 1
            case cst.Call(func=cst.Attribute(value=cst.Attribute() as owner)) if _attributes(owner):
                whole[_attributes(owner)[0]] += 2
            case cst.AssignTarget(target=cst.Subscript(value=cst.Attribute() as owner)) if _attributes(owner):
                whole[_attributes(owner)[0]] += 2
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Attribute() as target)], value=cst.Dict() | cst.Call() as value
            ) if _attributes(target) and (made := _entries(value)):
                entries[_attributes(target)[0]] = made
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute() as target)], value=cst.Name(value=param)):
                if _attributes(target) and param in given:
                    origin[_attributes(target)[0]] = param
    known = {n for n in origin if whole[n] == 1 and fields.get(n) and not OF_ARRAYS & fields[n].keys()}
    known |= {n for n in entries if whole[n] == 1 and fields.get(n) and fields[n].keys() <= entries[n].keys()}
    if not known:
        return node

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.SimpleStatementLine(
                body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute() as t)])]
            ) if _attributes(t) and _attributes(t)[0] in known:
                name = _attributes(t)[0]
                return inner.with_changes(
                    body=[
                        cst.Assign(
                            [cst.AssignTarget(_attribute(f"{name}_{f}"))],
                            entries[name][f] if name in entries else cst.Attribute(cst.Name(origin[name]), cst.Name(f)),
                        )
                        for f in (entries[name] if name in entries else fields[name])
                    ]
                )
            case cst.Attribute(value=cst.Attribute() as owner, attr=cst.Name(value=field)) if (
                _attributes(owner) and _attributes(owner)[0] in known
            ):
                return _attribute(f"{_attributes(owner)[0]}_{field}")
            case cst.Subscript(value=cst.Attribute() as owner) if (
                _attributes(owner) and _attributes(owner)[0] in known and (word := key(inner))
            ):
                return _attribute(f"{_attributes(owner)[0]}_{word}")
        return None

    new: cst.ClassDef = rebuilt(source, node, change)
    return new


def _entries(value: cst.BaseExpression) -> dict[str, cst.BaseExpression]:
    """The entries of ``{"nx": n}`` or ``dict(nx=n)``; {} for anything else."""
    match value:
        case cst.Call(func=cst.Name(value="dict"), args=args) if all(a.keyword is not None for a in args):
            return {a.keyword.value: a.value for a in args if a.keyword is not None}
        case cst.Dict(elements=parts):
            out = {}
            for p in parts:
                word = (
                    p.key.evaluated_value
                    if isinstance(p, cst.DictElement) and isinstance(p.key, cst.SimpleString)
                    else 0
                )
                if not isinstance(word, str) or not word.isidentifier():
                    return {}
                out[word] = p.value
            return out
    return {}


def _attribute(name: str) -> cst.Attribute:
    return cst.Attribute(cst.Name("self"), cst.Name(name))


def _attributes(node: cst.CSTNode) -> list[str]:
    """The attributes of self that a target names."""
    match node:
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            return [name]
        case cst.Tuple(elements=parts) | cst.List(elements=parts):
            return [n for p in parts for n in _attributes(p.value)]
    return []


def _of_default(init: cst.FunctionDef, value: cst.BaseExpression) -> list[cst.BaseExpression] | None:
    """The elements of a parameter that is a tuple where it is left out: ``self.tpb = tpb`` of ``tpb=(16, 16)``."""
    for p in (*init.params.params, *init.params.kwonly_params):
        if p.name.value == dotted(value) and isinstance(p.default, cst.Tuple):
            count = len(p.default.elements)
            return [cst.Subscript(value, [cst.SubscriptElement(cst.Index(cst.Integer(str(n))))]) for n in range(count)]
    return None


def _elements(source: Source, node: cst.BaseExpression) -> list[cst.BaseExpression] | None:
    """The elements of a tuple, a list or a comprehension over a constant range."""
    match node:
        case cst.Tuple(elements=parts) | cst.List(elements=parts):
            return [p.value for p in parts]
        case cst.ListComp(
            elt=each,
            for_in=cst.CompFor(
                target=cst.Name(value=var),
                iter=cst.Call(func=func, args=[cst.Arg(value=cst.Integer() as count)]),
                ifs=[],
                inner_for_in=None,
            ),
        ) if dotted(func) == "range" and count.evaluated_value <= MOST:

            def numbered(at: int) -> Any:
                def change(inner: cst.CSTNode) -> cst.CSTNode | None:
                    return cst.Integer(str(at)) if isinstance(inner, cst.Name) and inner.value == var else None

                return rebuilt(source, each.deep_clone(), change)

            return [numbered(at) for at in range(count.evaluated_value)]
    return None
