"""Classes of a Python module with the methods of their bases, and dataclasses with the constructor that they get.

``class Decay(Base)`` has the methods of ``Base`` that it does not define itself; ``super().step(dt)`` calls one of
another name, ``self.of_Base_step(dt)``, and ``super().__init__(u)`` is the statements of ``Base.__init__``.

Side conditions, checked: one base, of the same file; what a constructor gives to that of its base are names and
numbers, which that does not set. Other classes are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import libcst as cst

from kraise.frontends.python.host_inlined import NotHere, renamed
from kraise.frontends.python.host_units import PLAIN_BASES, assigned, constructor, default_of
from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import Source, all_of, dotted, rebuilt, walk


def whole_classes(source: Source, imports: Imports) -> Iterator[cst.ClassDef]:
    """The classes of a module that can be read by themselves."""
    found: dict[str, cst.ClassDef] = {}
    for node in source.tree.body:
        if isinstance(node, cst.ClassDef) and isinstance(node.body, cst.IndentedBlock):
            try:
                found[node.name.value] = _whole(source, imports, node, found)
            except NotHere:
                continue
            yield found[node.name.value]


def _whole(source: Source, imports: Imports, node: cst.ClassDef, found: Mapping[str, cst.ClassDef]) -> cst.ClassDef:
    bases = [imports.qualified(dotted(b.value)) or dotted(b.value) for b in node.bases]
    bases = [b for b in bases if b not in PLAIN_BASES]
    kinds = [
        imports.qualified(dotted(d.decorator.func if isinstance(d.decorator, cst.Call) else d.decorator))
        for d in node.decorators
    ]
    if len(bases) > 1 or any(b not in found for b in bases) or kinds not in ([], ["dataclasses.dataclass"]):
        raise NotHere
    if any(dotted(k.value).rpartition(".")[2] != "ABCMeta" for k in node.keywords) or (bases and kinds):
        raise NotHere
    if kinds:
        node = _with_constructor(source, imports, node)
    return _with_base(source, node, found[bases[0]]) if bases else node


def _methods(node: cst.ClassDef) -> dict[str, cst.FunctionDef]:
    return {m.name.value: m for m in node.body.body if isinstance(m, cst.FunctionDef)}


def _with_constructor(source: Source, imports: Imports, node: cst.ClassDef) -> cst.ClassDef:
    """A dataclass with its ``__init__``."""
    fields: list[tuple[str, cst.BaseExpression | None]] = []
    rest: list[Any] = []
    for line in node.body.body:
        match line:
            case cst.SimpleStatementLine(body=[cst.AnnAssign(target=cst.Name(value=name), value=value, annotation=a)]):
                if any(n.value in ("ClassVar", "InitVar") for n in all_of(cst.Name, a)):
                    raise NotHere
                fields.append((name, default_of(value, imports)))
            case _:
                rest.append(line)
    own = _methods(node)
    if "__init__" in own or not fields:
        return node
    said = {n.attr.value for n in all_of(cst.Attribute, node.body)}
    while fields and isinstance(fields[-1][1], cst.List | cst.Dict) and fields[-1][0] not in said:
        fields.pop()  # a list of records that no method looks at
    made = constructor(fields)
    lines = list(made.body.body)[: len(fields)]
    lines += own["__post_init__"].body.body if "__post_init__" in own else []
    made = made.with_changes(body=made.body.with_changes(body=lines))
    for new in walk(made):
        source.positions.setdefault(new, source.positions[node.name])
    rest = [line for line in rest if line is not own.get("__post_init__")]
    return node.with_changes(decorators=[], body=node.body.with_changes(body=[made, *rest]))


def _with_base(source: Source, node: cst.ClassDef, base: cst.ClassDef) -> cst.ClassDef:
    """A class with the methods and the constants of its base."""
    given = _methods(base)
    asked: dict[str, None] = {}  # methods of the base beside those of the same name

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.Attribute(value=cst.Call(func=cst.Name(value="super"), args=[]), attr=cst.Name(value=name)):
                if name not in given:
                    raise NotHere
                asked[name] = None
                return cst.Attribute(cst.Name("self"), cst.Name(f"of_{base.name.value}_{name}"))
        return None

    own: list[Any] = []
    for part in node.body.body:
        if isinstance(part, cst.FunctionDef) and part.name.value == "__init__":
            part = _with_base_made(source, part, given.get("__init__"))
        own.append(rebuilt(source, part, change))
    names = {m.name.value for m in own if isinstance(m, cst.FunctionDef)} | {n for m in own for n in assigned(m)}
    kept = [
        m for m in base.body.body
        if not (m.name.value in names if isinstance(m, cst.FunctionDef) else assigned(m) & names)
    ]  # fmt: skip
    again = [given[n].with_changes(name=cst.Name(f"of_{base.name.value}_{n}")) for n in asked]
    for new, name in zip(again, asked, strict=True):
        source.positions.setdefault(new, source.positions[given[name]])
        source.positions.setdefault(new.name, source.positions[given[name].name])
    return node.with_changes(bases=[], body=node.body.with_changes(body=[*kept, *again, *own]))


def _with_base_made(source: Source, init: cst.FunctionDef, base: cst.FunctionDef | None) -> cst.FunctionDef:
    """A constructor with the statements of its base's at the place of ``super().__init__(…)``."""
    lines: list[Any] = []
    for line in init.body.body:
        match line:
            case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(func=cst.Attribute() as func, args=args))]) if (
                isinstance(func.value, cst.Call)
                and dotted(func.value.func) == "super"
                and func.attr.value == "__init__"
            ):
                lines += _made(source, base, args, assigned(init.body)) if base is not None else []
            case _:
                lines.append(line)
    return init.with_changes(body=init.body.with_changes(body=lines))


def _made(source: Source, base: cst.FunctionDef, args: Any, taken: set[str]) -> list[Any]:
    params = [p for p in base.params.params if p.name.value != "self"]
    values: dict[str, Any] = {p.name.value: p.default for p in (*params, *base.params.kwonly_params)}
    for at, a in enumerate(args):
        name = a.keyword.value if a.keyword is not None else params[at].name.value if at < len(params) else ""
        if a.star or name not in values or not isinstance(a.value, cst.Name | cst.Integer | cst.Float):
            raise NotHere
        values[name] = a.value
    set_there = assigned(base.body)
    if None in values.values() or set_there & (taken | set(values)) or any(
        isinstance(n, cst.Return) for n in walk(base.body)
    ):  # fmt: skip
        raise NotHere
    return [renamed(source, line, values) for line in base.body.body]
