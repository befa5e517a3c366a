"""Constants that a module keeps together: ``P = {"g": 9.8}``, ``class Side(IntEnum): LEFT = 0``, ``class Box: N = 16``.

``P["g"]``, ``Side.LEFT`` (and its ``value``) and ``Box.N`` in functions that are raised are constants of the module,
by names of their own (``P_g``, ``Side_LEFT``, ``Box_N``).

Side conditions, checked: the module binds the name once, and the function does not; nothing is done with it but to read
entries (and to call a class; an ``IntEnum`` takes no other values); the entry is a number, or a table of numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import libcst as cst

from kraise.frontends.python.constants import Folder, read_constants, times_bound
from kraise.frontends.python.names import Imports
from kraise.frontends.python.scope import bindings
from kraise.frontends.python.source import Source, all_of, children, dotted, placed, rebuilt
from kraise.frontends.python.survey import is_host
from kraise.ir.host_names import fresh


def as_constants(parsed: Source, imports: Imports) -> Source:
    """The source with such constants by themselves, right behind what keeps them."""
    found = {name: group for line in parsed.tree.body for name, group in _group(line, imports)}
    times = times_bound(parsed.tree.body)
    lost = {n for n in found if times[n] != 1} | set(_lost(parsed.tree, set(found)))
    found = {n: g for n, g in found.items() if n not in lost}
    if not found:
        return parsed
    folder = Folder(imports)
    folder.values = read_constants(parsed, imports)
    taken = {n.value for n in all_of(cst.Name, parsed.tree)}
    names: dict[tuple[str, str], str] = {}
    body: list[Any] = []
    for line in parsed.tree.body:
        body.append(line)
        for name, group in _group(line, imports):
            for key, value in group.items() if name in found else ():
                if folder.number(value) is None and folder.table(value) is None:
                    continue
                names[name, key] = fresh(taken, f"{name}_{key}")
                target = placed(parsed, cst.Name(names[name, key]), value)
                made = placed(parsed, cst.Assign([cst.AssignTarget(target)], value), value)
                body.append(placed(parsed, cst.SimpleStatementLine([made]), value))
    used: set[str] = set()
    body = [_replaced(parsed, n, names, used, imports) if isinstance(n, cst.FunctionDef) else n for n in body]
    own = set(names.values()) - used
    body = [n for n in body if not (isinstance(n, cst.SimpleStatementLine) and _bound(n) in own)]
    if not used:
        return parsed
    return replace(parsed, tree=placed(parsed, parsed.tree.with_changes(body=body), parsed.tree))


def _bound(line: cst.SimpleStatementLine) -> str:
    match line.body:
        case [cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))])]:
            return name
    return ""


def _group(line: cst.CSTNode, imports: Imports) -> Iterator[tuple[str, dict[str, cst.BaseExpression]]]:
    """The name and the entries of what keeps constants together."""
    match line:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Dict(elements=parts))]
        ):
            entries: dict[str, cst.BaseExpression] = {}
            for e in parts:
                text = None
                if isinstance(e, cst.DictElement) and isinstance(e.key, cst.SimpleString):
                    text = e.key.evaluated_value
                if not isinstance(text, str) or not text.isidentifier() or text in entries:
                    return
                entries[text] = e.value
            yield name, entries
        case cst.ClassDef(name=cst.Name(value=name), bases=bases, decorators=[], body=cst.IndentedBlock(body=lines)):
            kinds = [imports.qualified(dotted(b.value)) for b in bases]
            if kinds not in ([], ["enum.IntEnum"]):
                return
            entries = {}
            for inner in lines:
                match inner:
                    case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString())]):
                        continue
                    case cst.SimpleStatementLine(
                        body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=key))], value=value)]
                    ) if key not in entries:
                        entries[key] = value
                    case _:
                        return
            own = {k for k, v in entries.items() if any(n.value in entries for n in all_of(cst.Name, v))}
            yield name, {k: v for k, v in entries.items() if k not in own}  # its names are the class's


def _lost(tree: cst.Module, names: set[str]) -> Iterator[str]:
    """Of these names those of which something else is done than to read an entry."""
    dicts = {
        t.target.value
        for a in all_of(cst.Assign, tree)
        if isinstance(a.value, cst.Dict)
        for t in a.targets
        if isinstance(t.target, cst.Name)
    }
    fixed = {c.name.value for c in all_of(cst.ClassDef, tree) if c.bases}
    stores = {id(t.target) for t in all_of(cst.AssignTarget | cst.AugAssign | cst.Del | cst.AnnAssign, tree)}
    stack: list[cst.CSTNode] = [tree]
    while stack:
        n = stack.pop()
        match n:
            case cst.AssignTarget(target=cst.Name(value=word)) if word in names:
                continue  # counted by whoever asks
            case cst.Subscript(value=cst.Name(value=word)) if word in dicts and word in names:
                if id(n) in stores or not _key(n):
                    yield word
                continue
            case cst.Attribute(value=cst.Name(value=word)) if word in names:
                if id(n) in stores or word in dicts:
                    yield word
                continue
            case cst.Call(func=cst.Name(value=word), args=args) if word in names and word not in dicts:
                stack += args
                continue
            case cst.ClassDef(name=cst.Name(value=word), body=body) if word in names:
                stack.append(body)
                continue
            case cst.Name(value=word) if word in names and word not in fixed:
                yield word
            case cst.Global(names=given):
                yield from (g.name.value for g in given)
            case cst.ImportAlias() | cst.Param():
                continue
        stack += [c for c in children(n) if not (isinstance(n, cst.Arg) and c is n.keyword)]


def _key(n: cst.Subscript) -> str:
    match n.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as text))]:
            return str(text.evaluated_value)
    return ""


def _replaced(
    parsed: Source, node: cst.FunctionDef, names: dict[tuple[str, str], str], used: set[str], imports: Imports
) -> cst.FunctionDef:
    """A function that is raised, with the names of the constants in it."""
    if is_host(node, imports):
        return node
    own = set(bindings(node.body)) | {p.name.value for p in all_of(cst.Param, node)}

    def change(n: cst.CSTNode) -> cst.CSTNode | None:
        match n:
            case cst.Attribute(value=cst.Attribute(value=cst.Name(value=word), attr=key), attr=cst.Name(value="value")):
                found = names.get((word, key.value)) if word not in own else None
            case cst.Attribute(value=cst.Name(value=word), attr=key):
                found = names.get((word, key.value)) if word not in own else None
            case cst.Subscript(value=cst.Name(value=word)) if _key(n):
                found = names.get((word, _key(n))) if word not in own else None
            case _:
                return None
        if found is None:
            return None
        used.add(found)
        return cst.Name(found)

    return rebuilt(parsed, node, change)  # type: ignore[no-any-return]
