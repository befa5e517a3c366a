"""Properties of a class as what they return, and attributes that only keep records as nothing.

``self.blocks`` of ``@property def blocks(self): return (self.n + 255) // 256`` is that expression; ``self.losses`` that
is ``[]`` at first, and only appended to, has no part in the values.

Side conditions, checked: the property does nothing but return; nothing else of the class has its name; what is appended
calls nothing that changes a value.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.host_inlined import bracketed
from kraise.frontends.python.host_kept import appended
from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import Source, all_of, dotted, rebuilt, walk

_DEPTH = 8  # of properties in each other


def without_properties(source: Source, node: cst.ClassDef, imports: Imports) -> cst.ClassDef:
    """The class with its properties written out, and without its records."""
    assert isinstance(node.body, cst.IndentedBlock)
    found: dict[str, cst.BaseExpression] = {}
    for part in node.body.body:
        if isinstance(part, cst.FunctionDef) and (value := _returned(part, imports)) is not None:
            found[part.name.value] = value
    stored = {t.attr.value for t in all_of(cst.Attribute, node) if _is_target(t, node)}
    found = {n: v for n, v in found.items() if n not in stored}
    records = _records(node, imports)
    if not found and not records:
        return node

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)) if name in found:
                return bracketed(found[name].deep_clone())  # type: ignore[no-any-return]
            case cst.SimpleStatementLine(body=parts):
                left = [p for p in parts if not _keeps(p, records, imports)]
                if len(left) < len(parts):
                    return inner.with_changes(body=left or [cst.Pass()])
        return None

    body = [p for p in node.body.body if not (isinstance(p, cst.FunctionDef) and p.name.value in found)]
    for _ in range(_DEPTH):
        new = [rebuilt(source, p, change) for p in body]
        if all(a is b for a, b in zip(new, body, strict=True)):
            break
        body = new
    return node.with_changes(body=node.body.with_changes(body=body))


def _returned(method: cst.FunctionDef, imports: Imports) -> cst.BaseExpression | None:
    """What a property that only returns gives; None for any other method."""
    kinds = [imports.qualified(dotted(d.decorator)) for d in method.decorators]
    if kinds not in (["builtins.property"], ["property"]):  # a cached one keeps its first value
        return None
    if not isinstance(method.body, cst.IndentedBlock):
        return None
    lines = [s for line in method.body.body if isinstance(line, cst.SimpleStatementLine) for s in line.body]
    if len(lines) != len(method.body.body):
        return None
    if lines and isinstance(lines[0], cst.Expr) and isinstance(lines[0].value, cst.SimpleString):
        lines = lines[1:]
    if len(lines) != 1 or not isinstance(lines[0], cst.Return):
        return None
    return lines[0].value


def _is_target(attribute: cst.Attribute, node: cst.ClassDef) -> bool:
    return dotted(attribute.value) == "self" and any(
        isinstance(n, cst.AssignTarget | cst.AugAssign | cst.AnnAssign) and n.target is attribute for n in walk(node)
    )


def _records(node: cst.ClassDef, imports: Imports) -> set[str]:
    """The attributes that are an empty list at first, and that are only appended to; those that only hold a time."""
    uses: dict[str, int] = {}
    kept: dict[str, int] = {}
    starts: set[str] = set()
    for inner in walk(node):
        match inner:
            case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
                uses[name] = uses.get(name, 0) + 1
            case cst.Assign() | cst.Expr():
                if name := _start(inner) or _clock(inner, imports):
                    starts.add(name)
                    kept[name] = kept.get(name, 0) + 1
                elif isinstance(inner, cst.Expr) and (name := _append(inner, imports)):
                    kept[name] = kept.get(name, 0) + 1
    return {n for n in starts if uses.get(n) == kept.get(n)}


def _start(node: Any) -> str:
    match node:
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)))],
            value=cst.List(elements=[]),
        ):
            return name
    return ""


def _clock(node: Any, imports: Imports) -> str:
    """The attribute that ``self.elapsed = time.perf_counter() - start`` sets."""
    match node:
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)))],
            value=value,
        ) if any(
            isinstance(n, cst.Call) and imports.qualified(dotted(n.func)).startswith("time.") for n in walk(value)
        ):
            return name
    return ""


def _append(node: cst.Expr, imports: Imports) -> str:
    match node.value:
        case cst.Call(func=cst.Attribute(value=cst.Attribute(value=cst.Name(value="self"), attr=own), attr=verb)):
            plain = node.value.with_changes(func=cst.Attribute(own, verb))
            return appended(plain, imports)
    return ""


def _keeps(small: Any, records: set[str], imports: Imports) -> bool:
    return (
        _start(small) in records
        or _clock(small, imports) in records
        or (isinstance(small, cst.Expr) and _append(small, imports) in records)
    )
