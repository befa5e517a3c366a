"""Text and tables of the module in Python host functions: ``kind="relu"``, ``KERNELS = {"relu": relu, …}``.

A parameter that is text where it is left out keeps its default; ``**options`` that nobody gives is no entry.
A dict of the module stands where its name does (a list or tuple, too, if it holds kernels), so that
``KERNELS[kind][grid, block](x)`` is ``relu[grid, block](x)``. Comparisons of text, and branches on them, are decided.

Side conditions, checked: the function does not set the parameter; the module sets the table's name once, and nothing
in the file changes the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any

import libcst as cst

from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.host_units import assigned, times_set
from kraise.frontends.python.names import simple_statements
from kraise.frontends.python.source import Source, all_of, dotted, placed, rebuilt, walk

_READS = frozenset(("items", "keys", "values", "get", "copy"))


def module_tables(tree: cst.Module, kernels: set[str]) -> Mapping[str, cst.BaseExpression]:
    """The dicts of a module, and its lists and tuples of kernels, that nothing in its file changes."""
    return _module_tables(tree, frozenset(kernels))


@lru_cache(maxsize=16)  # of one module it is asked for each of its functions
def _module_tables(tree: cst.Module, kernels: frozenset[str]) -> Mapping[str, cst.BaseExpression]:
    found: dict[str, cst.BaseExpression] = {}
    times = times_set(tree)
    for small in simple_statements(tree.body):
        match small:
            case (
                cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)
                | cst.AnnAssign(target=cst.Name(value=name), value=value)
            ) if isinstance(value, cst.Dict | cst.List | cst.Tuple) and times[name] == 1:
                if isinstance(value, cst.Dict) or _mentions(value, kernels):
                    found[name] = value
    for node in walk(tree) if found else ():
        match node:
            case cst.AssignTarget(target=cst.Subscript(value=owner)) | cst.AugAssign(target=cst.Subscript(value=owner)):
                found.pop(dotted(owner), None)
            case cst.AugAssign(target=target):
                found.pop(dotted(target), None)
            case cst.Attribute(value=owner, attr=cst.Name(value=verb)) if verb not in _READS:
                found.pop(dotted(owner), None)
            case cst.Del(target=target):
                for n in walk(target):
                    found.pop(n.value if isinstance(n, cst.Name) else "", None)
    return found


def holding(tables: Mapping[str, cst.BaseExpression], kernels: set[str]) -> set[str]:
    """The tables that hold kernels."""
    return {t for t, value in tables.items() if _mentions(value, kernels)}


def _mentions(node: cst.CSTNode, names: AbstractSet[str]) -> bool:
    return any(n.value in names for n in all_of(cst.Name, node))


def with_words(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function without parameters that are text, and with the tables of the module written out."""
    if not isinstance(node.body, cst.IndentedBlock):
        return node
    values: dict[str, Any] = {}
    params, gone = node.params, list[cst.Param]()
    times = times_set(node)
    every = (*params.posonly_params, *params.params, *params.kwonly_params)
    for p in every:  # a call that gives another text is written out
        if isinstance(p.default, cst.SimpleString) and times[p.name.value] == 1:
            values[p.name.value] = p.default
            scope.drop(p, "a parameter that keeps its default")
            gone.append(p)
    if params.star_kwarg is not None and not _given_more(scope.source, node):
        values[params.star_kwarg.name.value] = cst.Dict([])
        gone.append(params.star_kwarg)
    if gone:
        kept: dict[str, Any] = {
            kind: [p for p in getattr(params, kind) if not any(p is g for g in gone)]
            for kind in ("posonly_params", "params", "kwonly_params")
        }
        star = None if any(params.star_kwarg is g for g in gone) else params.star_kwarg
        bare = isinstance(params.star_arg, cst.ParamStar) and not kept["kwonly_params"]
        node = _at(scope.source, node.with_changes(params=params.with_changes(
            **kept, star_kwarg=star, **({"star_arg": cst.MaybeSentinel.DEFAULT} if bare else {})
        )), node)  # fmt: skip
    return with_tables(scope, _replaced(scope.source, node, values))


def with_tables(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with the tables of the module written out, and what is asked of text decided."""
    mentioned = {n.value for n in all_of(cst.Name, node.body)} - assigned(node)
    tables = module_tables(scope.source.tree, {*scope.functions, *scope.refused})
    values = {n: v for n, v in tables.items() if n in mentioned and n not in scope.constants and n not in scope.enums}
    return _decided(scope.source, _replaced(scope.source, node, values))


def _given_more(source: Source, node: cst.FunctionDef) -> bool:
    """May a call in the file give words that are no parameters?"""
    known = {p.name.value for p in (*node.params.params, *node.params.kwonly_params)}
    for n in walk(source.tree):
        if (
            isinstance(n, cst.Call)
            and dotted(n.func) == node.name.value
            and any(a.star == "**" or (a.keyword is not None and a.keyword.value not in known) for a in n.args)
        ):
            return True
    return False


def _replaced(source: Source, node: cst.FunctionDef, values: Mapping[str, Any]) -> cst.FunctionDef:
    if not values:
        return node

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.Name(value=name) if name in values:
                return placed(source, values[name].deep_clone(), inner)  # type: ignore[no-any-return]
            case cst.Arg(value=value):
                return inner.with_changes(value=rebuilt(source, value, change))
            case cst.Attribute(value=value):
                return inner.with_changes(value=rebuilt(source, value, change))
        return None

    return _at(source, node.with_changes(body=rebuilt(source, node.body, change)), node)


def _decided(source: Source, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with comparisons of text decided, branches on them, and entries of dicts by text."""
    if not all_of(cst.SimpleString | cst.Dict, node.body):
        return node

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        if isinstance(inner, cst.IndentedBlock):
            lines = [new for line in inner.body for new in block(line)]
            same = len(lines) == len(inner.body) and all(a is b for a, b in zip(lines, inner.body, strict=True))
            return inner if same else inner.with_changes(body=lines or [cst.SimpleStatementLine([cst.Pass()])])
        match inner:
            case cst.IfExp(test=test, body=body, orelse=other) if (chosen := _truth(test)) is not None:
                return rebuilt(source, body if chosen else other, change)  # type: ignore[no-any-return]
            case cst.Subscript(value=cst.Dict() as table, slice=[cst.SubscriptElement(slice=cst.Index(value=key))]):
                found = _entry(table, key)
                return None if found is None else rebuilt(source, found, change)  # type: ignore[no-any-return]
            case cst.Call(
                func=cst.Attribute(value=cst.Dict() as table, attr=cst.Name(value="get")), args=[cst.Arg(value=key), *_]
            ):
                return _entry(table, key)
        return None

    def block(line: Any) -> list[Any]:
        match line:
            case cst.If(test=test, body=body, orelse=orelse) if (chosen := _truth(test)) is not None:
                other: Sequence[Any] = (
                    () if orelse is None else [orelse] if isinstance(orelse, cst.If) else orelse.body.body
                )
                return [new for x in (body.body if chosen else other) for new in block(x)]
        return [rebuilt(source, line, change)]

    body = rebuilt(source, node.body, change)
    return node if body is node.body else _at(source, node.with_changes(body=body), node)


def _entry(table: cst.Dict, key: cst.BaseExpression) -> Any:
    """The entry of a dict of literals by text or a number; None where it is not known."""
    entries = [e for e in table.elements if isinstance(e, cst.DictElement)]
    if not isinstance(key, cst.SimpleString | cst.Integer) or len(entries) < len(table.elements):
        return None
    known = [e.key.evaluated_value for e in entries if isinstance(e.key, cst.SimpleString | cst.Integer)]
    if len(known) < len(entries) or known.count(key.evaluated_value) != 1:
        return None
    return entries[known.index(key.evaluated_value)].value


def _truth(test: cst.BaseExpression) -> bool | None:
    """Whether a test of text holds; None for any other test."""
    match test:
        case cst.Comparison(
            left=cst.SimpleString() as left, comparisons=[cst.ComparisonTarget(operator=sign, comparator=right)]
        ):
            one = left.evaluated_value
            if isinstance(sign, cst.Equal | cst.NotEqual) and isinstance(right, cst.SimpleString):
                return (one == right.evaluated_value) is isinstance(sign, cst.Equal)
            if isinstance(sign, cst.In | cst.NotIn):
                return _among(one, right, isinstance(sign, cst.In))
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            found = _truth(inner)
            return None if found is None else not found
        case cst.BooleanOperation(left=left, operator=word, right=right):
            ends = isinstance(word, cst.Or)
            sides = (_truth(left), _truth(right))
            if sides[0] is ends:
                return ends
            return None if None in sides else not ends if ends not in sides else ends
    return None


def _among(word: Any, table: cst.BaseExpression, inside: bool) -> bool | None:
    parts: list[Any] = []
    match table:
        case cst.Tuple(elements=elements) | cst.List(elements=elements) | cst.Set(elements=elements):
            parts = [e.value for e in elements]
        case cst.Dict(elements=elements):
            parts = [e.key if isinstance(e, cst.DictElement) else None for e in elements]
        case _:
            return None
    if not all(isinstance(p, cst.SimpleString) for p in parts):
        return None
    return (word in [p.evaluated_value for p in parts]) is inside


def _at(source: Source, new: cst.FunctionDef, old: cst.FunctionDef) -> cst.FunctionDef:
    placed(source, new, old)
    placed(source, new.name, old.name)
    return new


__all__ = ["holding", "module_tables", "with_tables", "with_words"]
