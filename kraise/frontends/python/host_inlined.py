"""The statements of a function for another place: names replaced, one way out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import libcst as cst

from kraise.frontends.python.host_units import Unit
from kraise.frontends.python.source import Source, all_of, dotted, rebuilt, walk
from kraise.ir.host_names import fresh


class NotHere(Exception):
    """A function that cannot be written out where it is called."""


def uses(lines: Iterable[cst.CSTNode], *kinds: type) -> bool:
    """Is there a node of one of the kinds among statements?"""
    return any(isinstance(n, kinds) for line in lines for n in walk(line))


def renamed(source: Source, node: Any, names: Mapping[str, Any], keep: Any = None) -> Any:
    """A node in which names stand for others, or for expressions; ``keep`` stays as it is."""

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        if inner is keep:
            return inner
        match inner:
            case cst.Name(value=name) if name in names:
                return names[name]
            case cst.Call(func=func, args=args) if any(a.star == "*" and dotted(a.value) in names for a in args):
                given: list[Any] = []
                for a in args:
                    found = names.get(dotted(a.value)) if a.star == "*" else None
                    if isinstance(found, cst.Tuple):
                        given += [cst.Arg(e.value) for e in found.elements]
                    else:
                        given.append(rebuilt(source, a, change))
                return inner.with_changes(func=rebuilt(source, func, change), args=given)
            case cst.Arg(keyword=cst.Name() as word, value=value):
                return inner.with_changes(keyword=word, value=rebuilt(source, value, change))
            case cst.Attribute(value=value, attr=attr):
                return inner.with_changes(value=rebuilt(source, value, change), attr=attr)
        return None

    return rebuilt(source, node, change)


def with_names_for_blanks(source: Source, node: Any) -> Any:
    """A function that reads ``_``, with another name for it: emitted code leaves under ``_`` what nobody reads."""
    blanks = {id(n) for n in all_of(cst.Name, node) if n.value == "_"}
    for inner in walk(node):
        match inner:
            case cst.For(target=target) | cst.CompFor(target=target) | cst.AssignTarget(target=target):
                parts = target.elements if isinstance(target, cst.Tuple | cst.List) else [target]
                blanks -= {id(getattr(p, "value", p)) for p in parts} | {id(p) for p in parts}
    if not blanks:
        return node
    taken = {n.value for n in all_of(cst.Name, node)}
    return renamed(source, node, {"_": cst.Name(fresh(taken, "blank"))})


def as_value(made: Unit) -> cst.BaseExpression | None:
    """The value of a function that is one expression, or a choice of some; None for one with other statements."""
    if made.value is not None:
        return made.value
    return _value(list(made.body))


def _value(lines: Sequence[Any]) -> cst.BaseExpression | None:
    match list(lines):
        case [cst.SimpleStatementLine(body=[cst.Return(value=value)]), *_] if value is not None:
            return value
        case [cst.If(test=test, body=body, orelse=orelse), *rest]:
            then = _value(body.body)
            if orelse is None:
                other = _value(rest)
            else:
                other = _value([orelse] if isinstance(orelse, cst.If) else orelse.body.body)
            if then is not None and other is not None and not isinstance(then, cst.Tuple):
                return cst.IfExp(test, then, other)
    return None


def single_exit(lines: Sequence[Any], target: Any) -> list[Any]:
    """Statements in which ``return e`` is ``target = e``, and what follows a way out is its other branch.

    Raises NotHere for a way out of a loop, and for a function that may end without the value that is asked for.
    """
    if not uses(lines, cst.Return):
        if target is not None and not _ends(lines):
            raise NotHere
        return list(lines)
    out: list[Any] = []
    for at, line in enumerate(lines):
        rest = list(lines[at + 1 :])
        match line:
            case cst.SimpleStatementLine(body=[*parts, cst.Return(value=value)]):
                last: list[Any] = []
                if target is not None:
                    if value is None:
                        raise NotHere
                    last = [cst.Assign([cst.AssignTarget(target)], value)]
                elif value is not None:
                    last = [cst.Expr(value)] if isinstance(value, cst.Call) else []
                return [*out, *([line.with_changes(body=[*parts, *last])] if [*parts, *last] else [])]
            case cst.If(body=body, orelse=orelse) if uses([line], cst.Return):
                other: list[Any] = (
                    [] if orelse is None else [orelse] if isinstance(orelse, cst.If) else list(orelse.body.body)
                )
                then: list[Any] = list(body.body)
                then = single_exit(then if _ends(then) else [*then, *rest], target)
                other = single_exit(other if _ends(other) else [*other, *rest], target)
                made = line.with_changes(
                    body=cst.IndentedBlock(then or [cst.SimpleStatementLine([cst.Pass()])]),
                    orelse=cst.Else(cst.IndentedBlock(other)) if other else None,
                )
                return [*out, made]
            case cst.With(body=body) if uses([line], cst.Return):
                if not _ends(body.body):
                    raise NotHere
                return [*out, line.with_changes(body=cst.IndentedBlock(single_exit(body.body, target)))]
            case _ if uses([line], cst.Return):
                raise NotHere
        out.append(line)
    if target is not None:
        raise NotHere
    return out


def without_returns(lines: Sequence[Any]) -> tuple[Any, ...]:
    """Statements without a ``return`` at their end."""
    match list(lines)[-1:]:
        case [cst.SimpleStatementLine(body=[*parts, cst.Return()]) as last]:
            return (*lines[:-1], *([last.with_changes(body=parts)] if parts else []))
    return tuple(lines)


def _ends(lines: Sequence[Any]) -> bool:
    """Does every way through statements end in ``return`` or ``raise``?"""
    match list(lines)[-1:]:
        case [cst.SimpleStatementLine(body=[*_, cst.Return() | cst.Raise()])]:
            return True
        case [cst.If(body=body, orelse=cst.Else(body=other))]:
            return _ends(body.body) and _ends(other.body)
        case [cst.If(body=body, orelse=cst.If() as other)]:
            return _ends(body.body) and _ends([other])
        case [cst.With(body=body)]:
            return _ends(body.body)
    return False


def bracketed(node: Any) -> Any:
    if isinstance(node, cst.Name | cst.Attribute | cst.Integer | cst.Float | cst.Call | cst.Subscript | cst.Tuple):
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()]) if hasattr(node, "lpar") else node


def arguments(params: Any, args: Any) -> dict[str, Any] | None:
    """The value of each parameter, in their order; None where the call does not fit."""
    names = [p for p, _ in params]
    found: dict[str, Any] = {}
    for at, a in enumerate(args):
        if a.star:
            return None
        name = a.keyword.value if a.keyword is not None else names[at] if at < len(names) else ""
        if name not in names or name in found:
            return None
        found[name] = a.value
    for name, default in params:
        if name not in found:
            if default is None:
                return None
            found[name] = default
    return {n: found[n] for n in names}


def bundles_of(node: cst.CSTNode) -> set[str]:
    """The names that a function makes lists, tuples or dicts of."""
    found: set[str] = set()
    for inner in walk(node):
        match inner:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Name(value=name))],
                value=cst.List()
                | cst.Tuple()
                | cst.Dict()
                | cst.ListComp()
                | cst.DictComp()
                | cst.Call(func=cst.Name(value="dict")),
            ):
                found.add(name)
    return found


def gives_bundle(made: Unit, records: set[str]) -> bool:
    for line in made.body:
        for inner in walk(line):
            match inner:
                case cst.Return(value=cst.Dict() | cst.List() | cst.DictComp() | cst.ListComp()):
                    return True
                case cst.Return(value=cst.Call(func=cst.Name(value=name))) if name in records:
                    return True
    return False
