"""What a helper does where an argument is ``None``, and where it is not: ``n = x.size if n is None else n``.

A host function is what its caller gets who leaves such parameters out (:func:`by_default`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import libcst as cst

from kraise.frontends.python.host_units import assigned
from kraise.frontends.python.source import Source, all_of, dotted, rebuilt, walk


def by_default(source: Source, node: cst.FunctionDef) -> tuple[cst.FunctionDef, list[cst.Param]]:
    """A function as it is called without the parameters that are ``None`` then and that it tests for that, or does not
    use; these.

    Not where a call of the file gives one of them and the function would do with any value (``s or 3``): there it is an
    argument like others. Calls that give one are written out.
    """
    params = node.params
    every = [*params.posonly_params, *params.params, *params.kwonly_params]
    found = [
        p for at, p in enumerate(every)
        if p.default is not None and dotted(p.default) == "None"
        and (_tests(node, p.name.value) or not _reads(node, p.name.value))
        and (not is_given(source, node, p.name.value, at) or asks(node.body, p.name.value))
    ]  # fmt: skip
    if not found or not isinstance(node.body, cst.IndentedBlock):
        return node, []
    names = {p.name.value for p in found}
    lines = settled(node.body.body, dict.fromkeys(names, True), source)
    own = {n for line in lines for n in assigned(line)}
    sure = dict.fromkeys(names - own, True)

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        if isinstance(inner, cst.Arg):
            return inner.with_changes(value=rebuilt(source, inner.value, change))
        if isinstance(inner, cst.Attribute):
            return inner.with_changes(value=rebuilt(source, inner.value, change))
        if isinstance(inner, cst.IfExp) and (chosen := _decided(inner.test, sure)) is not None:
            return rebuilt(source, inner.body if chosen else inner.orelse, change)  # type: ignore[no-any-return]
        left = isinstance(inner, cst.Name) and inner.value in names - own
        return cst.Name("None") if left else None

    lines = [rebuilt(source, line, change) for line in lines]
    kept = {
        kind: [p for p in getattr(params, kind) if p not in found]
        for kind in ("posonly_params", "params", "kwonly_params")
    }
    new = node.with_changes(params=params.with_changes(**kept), body=node.body.with_changes(body=lines))
    for made, old in ((new, node), (new.name, node.name)):
        if old in source.positions:
            source.positions[made] = source.positions[old]
    return new, found


def _tests(node: cst.FunctionDef, name: str) -> bool:
    """Does a function test a parameter for ``None``?"""
    return any(
        isinstance(n, cst.Comparison) and _decided(n, {name: True}) is not None
        or isinstance(n, cst.BooleanOperation) and isinstance(n.operator, cst.Or) and dotted(n.left) == name
        for n in walk(node.body)
    )  # fmt: skip


def asks(node: cst.CSTNode, name: str) -> bool:
    """Is a name compared with ``None``?"""
    return any(_decided(n, {name: True}) is not None for n in all_of(cst.Comparison, node))


def _reads(node: cst.FunctionDef, name: str) -> bool:
    return any(n.value == name for n in all_of(cst.Name, node.body))


def is_given(source: Source, node: cst.FunctionDef, name: str, at: int) -> bool:
    """May a call in the file give the parameter, by its word or its place?"""
    own = node.name.value
    for n in walk(source.tree):
        if isinstance(n, cst.Call) and dotted(n.func).rpartition(".")[2] in (own, own.rpartition("_")[2]):
            by_word = any(a.keyword is not None and a.keyword.value == name for a in n.args)
            by_place = sum(a.keyword is None for a in n.args) > at or any(a.star for a in n.args)
            if by_word or by_place:
                return True
    return False


def settled(lines: Sequence[Any], known: Mapping[str, bool], source: Source | None = None) -> list[Any]:
    """Statements in which tests for ``None`` are decided; ``known`` says which parameters are. With ``source`` those
    inside of loops and of other branches, too, where the parameter stays what it is."""
    known = dict(known)
    out: list[Any] = []
    for line in lines:
        if isinstance(line, cst.If) and source is not None:
            line = _without_neutral(source, line, known)
        match line:
            case cst.If(test=test, body=body, orelse=orelse) if (chosen := _decided(test, known)) is not None:
                other = [] if orelse is None else [orelse] if isinstance(orelse, cst.If) else list(orelse.body.body)
                out += settled(list(body.body) if chosen else other, known, source)
            case cst.SimpleStatementLine(
                body=[cst.Assign(value=cst.IfExp(test=test, body=one, orelse=other)) as only]
            ) if (chosen := _decided(test, known)) is not None:
                value = one if chosen else other
                if dotted(only.targets[0].target) != dotted(value) or len(only.targets) > 1:
                    out.append(line.with_changes(body=[only.with_changes(value=value)]))
            case cst.SimpleStatementLine(
                body=[cst.Assign(value=cst.BooleanOperation(left=left, operator=cst.Or(), right=other)) as only]
            ) if known.get(dotted(left)):  # s = s or cuda.stream()
                out.append(line.with_changes(body=[only.with_changes(value=other)]))
            case cst.BaseCompoundStatement() if source is not None:
                sure = {n: k for n, k in known.items() if n not in assigned(line)}
                out.append(rebuilt(source, line, partial(_block, source, sure)))
            case _:
                out.append(line)
        if source is not None and out and line not in source.positions and lines:
            _place(source, out[-1], lines)
        for name in assigned(line) & set(known):
            if isinstance(line, cst.SimpleStatementLine | cst.If):
                known.pop(name)
    return out


def _place(source: Source, new: Any, lines: Sequence[Any]) -> None:
    """A statement made here has the place of the first of its block, where it has none of its own."""
    if new not in source.positions and lines[0] in source.positions:
        source.positions[new] = source.positions[lines[0]]


def _block(source: Source, known: Mapping[str, bool], node: cst.CSTNode) -> cst.CSTNode | None:
    if not isinstance(node, cst.IndentedBlock):
        return None
    new = settled(node.body, known, source)
    return node.with_changes(body=new or [cst.SimpleStatementLine([cst.Pass()])])


def _without_neutral(source: Source, line: cst.If, known: Mapping[str, bool]) -> cst.If:
    """``if err < tol`` of ``if tol is not None and err < tol`` where it is not ``None``; a test that one side decides
    is decided in :func:`_decided`."""
    match line.test:
        case cst.BooleanOperation(left=left, operator=sign, right=right):
            for side, other in ((left, right), (right, left)):
                if _decided(side, known) is isinstance(sign, cst.And):
                    new = line.with_changes(test=other)
                    if line in source.positions:
                        source.positions[new] = source.positions[line]
                    return new
    return line


def _decided(test: Any, known: Mapping[str, bool]) -> bool | None:
    """Whether a test for ``None`` holds; None for any other test."""
    match test:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=sign, comparator=right)]) if (
            dotted(right) == "None" and dotted(left) in known
        ):
            if isinstance(sign, cst.Is | cst.Equal):
                return known[dotted(left)]
            if isinstance(sign, cst.IsNot | cst.NotEqual):
                return not known[dotted(left)]
        case cst.Name(value=name) if known.get(name):  # if stream:
            return False
        case cst.UnaryOperation(operator=cst.Not(), expression=cst.Name(value=name)) if known.get(name):
            return True
        case cst.BooleanOperation(left=left, operator=sign, right=right):
            ends = isinstance(sign, cst.Or)
            sides = (_decided(left, known), _decided(right, known))
            if ends in sides:
                return ends
            return None if None in sides else not ends
    return None
