"""Which names of a host function are surely numbers: ``a += b`` of an array changes the memory that others see.

NumPy's ``a += b`` makes a new number where ``a`` is a number, and changes the caller's array where it is one. A name of
which nothing tells that it is an array is read as a number; where it may be an array that another name sees, that
reading needs a witness: a use that NumPy refuses for arrays (a bound, a subscript, a truth value, a number that a
kernel takes).
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from kraise import dialects
from kraise.frontends.python.annotations import scalar_type
from kraise.frontends.python.host_scope import HostScope, launched
from kraise.frontends.python.source import all_of, dotted, walk
from kraise.ir.types import ScalarType


def numbers(scope: HostScope, function: cst.FunctionDef) -> set[str]:
    """The names that are numbers by what is done with them, or by their annotation or default."""
    found: set[str] = set()
    given = function.params
    for p in (*given.posonly_params, *given.params, *given.kwonly_params):
        kind = scalar_type(dotted(p.annotation.annotation)) if p.annotation is not None else None
        if kind is not None or isinstance(p.default, cst.Integer | cst.Float | cst.UnaryOperation):
            found.add(p.name.value)
    for node in walk(function.body):
        for place in _places(scope, node):
            found |= _needed(place)
    definitions: dict[str, list[cst.BaseExpression]] = {}
    for target, value in _assignments(function):
        definitions.setdefault(target, []).append(value)
    while True:  # a sum is a number only if its terms are
        before = len(found)
        for name in list(found):
            if len(definitions.get(name, ())) == 1:
                found |= _needed(definitions[name][0])
        for name, values in definitions.items():
            if all(_is_number(scope, v, found) for v in values) and not _is_parameter(function, name):
                found.add(name)
        if len(found) == before:
            return found


def may_share(scope: HostScope, function: cst.FunctionDef, name: str, found: set[str]) -> bool:
    """May a name that is read as a number be an array that another name sees, or the caller?"""
    if name in found or not name:
        return False
    if _is_parameter(function, name):  # what is returned is not lost, if no other name sees it
        seen = any(isinstance(v, cst.Name) and v.value == name and t != name for t, v in _assignments(function))
        return seen or not _returned(function, name)
    return any(_is_view(scope, v, found) for t, v in _assignments(function) if t == name)


def _returned(function: cst.FunctionDef, name: str) -> bool:
    """Does every ``return`` of a function give a name as it stands?"""
    given = [n.value for n in all_of(cst.Return, function.body)]
    parts = [[e.value for e in v.elements] if isinstance(v, cst.Tuple) else [v] for v in given]
    return bool(parts) and all(any(isinstance(p, cst.Name) and p.value == name for p in own) for own in parts)


def _is_parameter(function: cst.FunctionDef, name: str) -> bool:
    given = function.params
    return name in {p.name.value for p in (*given.posonly_params, *given.params, *given.kwonly_params)}


def _is_view(scope: HostScope, value: cst.BaseExpression, found: set[str]) -> bool:
    """Does an expression give memory that has another name, if it is an array?"""
    match value:
        case cst.Attribute(attr=cst.Name(value="shape" | "size" | "ndim")):
            return False
        case cst.Name() | cst.Attribute():
            known = dialects.constants("numpy_scalar")
            name = dotted(value)
            return not (name in found | set(scope.constants) or scope.imports.qualified(name) in known)
        case cst.Subscript():
            return not _is_number(scope, value, found)
        case cst.IfExp(body=body, orelse=orelse):
            return _is_view(scope, body, found) or _is_view(scope, orelse, found)
    return False


def _is_number(scope: HostScope, value: cst.BaseExpression, found: set[str]) -> bool:
    match value:
        case cst.Integer() | cst.Float() | cst.Comparison():
            return True
        case cst.Name() | cst.Attribute():
            return dotted(value) in found or not _is_view(scope, value, found)
        case cst.Subscript(value=cst.Attribute(attr=cst.Name(value="shape"))):
            return True
        case cst.Subscript(value=owner, slice=items):
            rank = scope.ranks.get(dotted(owner))
            return rank is not None and _subscripts(items) == rank
        case cst.BinaryOperation(left=left, right=right):
            return _is_number(scope, left, found) and _is_number(scope, right, found)
        case cst.UnaryOperation(expression=inner):
            return _is_number(scope, inner, found)
        case cst.Call():
            return not scope.is_array(value)
    return False


def _subscripts(items) -> int:  # type: ignore[no-untyped-def]
    """How many axes a subscript takes away; -1 where a slice is among them."""
    if any(not isinstance(i.slice, cst.Index) for i in items):
        return -1
    return sum(len(v.elements) if isinstance(v := i.slice.value, cst.Tuple) else 1 for i in items)


def _needed(value: cst.BaseExpression) -> set[str]:
    """The names that must be numbers for an expression to be one."""
    match value:
        case cst.Name() | cst.Attribute():
            return {dotted(value)}
        case cst.BinaryOperation(left=left, right=right) | cst.BooleanOperation(left=left, right=right):
            return _needed(left) | _needed(right)
        case cst.UnaryOperation(expression=inner):
            return _needed(inner)
        case cst.Comparison(left=left, comparisons=parts):
            return _needed(left) | {n for p in parts for n in _needed(p.comparator)}
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return {n for e in elements for n in _needed(e.value)}
    return set()


def _places(scope: HostScope, node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """The expressions of a node that stand where only a number may stand."""
    match node:
        case cst.If(test=test) | cst.While(test=test) | cst.IfExp(test=test) | cst.Assert(test=test):
            yield test
        case cst.Index(value=value):
            yield value
        case cst.Slice(lower=lower, upper=upper, step=step):
            yield from (b for b in (lower, upper, step) if b is not None)
        case cst.Call(func=func, args=args):
            name = scope.imports.qualified(dotted(func)) if dotted(func) else ""
            concept = dialects.table("host_library")["python"].get(name, "")
            compares = name in ("builtins.min", "builtins.max") and len(args) > 1
            if name.startswith("math.") or name in ("builtins.range", "builtins.int", "builtins.float") or compares:
                yield from (a.value for a in args)
            elif concept in ("empty", "zeros", "ones", "full") and args:
                yield args[0].value
            yield from _taken(scope, node)


def _taken(scope: HostScope, call: cst.Call) -> Iterator[cst.BaseExpression]:
    """The numbers that a kernel or another host function takes, and the extents of a launch."""
    name = launched(scope, call)
    called = dotted(call.func)
    if isinstance(call.func, cst.Call):
        yield from (a.value for a in call.func.args)
    function = scope.functions.get(name or called)
    if function is not None:
        for param, argument in zip(function.params, call.args, strict=False):
            if isinstance(param.type, ScalarType):
                yield argument.value
    taken = scope.host_numbers.get(called, frozenset())
    for own, argument in zip(scope.host_params.get(called, ()), call.args, strict=False):
        if own.name in taken:
            yield argument.value


def _assignments(function: cst.FunctionDef) -> Iterator[tuple[str, cst.BaseExpression]]:
    """Each assignment of a name: (name, value); of an exchange part by part."""
    for node in walk(function.body):
        match node:
            case cst.Assign(targets=targets, value=value):
                for t in targets:
                    yield from _pairs(t.target, value)
            case cst.AnnAssign(target=target, value=value) if value is not None:
                yield from _pairs(target, value)


def _pairs(target: cst.BaseExpression, value: cst.BaseExpression) -> Iterator[tuple[str, cst.BaseExpression]]:
    if isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple) and len(target.elements) == len(value.elements):
        for t, v in zip(target.elements, value.elements, strict=True):
            yield from _pairs(t.value, v.value)
    elif isinstance(target, cst.Tuple):
        yield from ((dotted(t.value), value) for t in target.elements if dotted(t.value))
    elif dotted(target):
        yield dotted(target), value
