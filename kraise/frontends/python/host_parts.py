"""Parts of arrays as arguments of a launch in a Python host function (``k[g, b](d[3:10])``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from kraise.frontends.python import host_values as values
from kraise.frontends.python.host_rounds import number
from kraise.frontends.python.host_scope import HostScope, launched
from kraise.frontends.python.host_units import assigned
from kraise.frontends.python.source import dotted
from kraise.ir import host as h
from kraise.ir.host_live import Memory, stored
from kraise.ir.types import ArrayType, Type

if TYPE_CHECKING:
    from kraise.frontends.python.host import Reader


def named(reader: Reader, call: cst.Call) -> tuple[list[h.Stmt], list[h.Stmt], cst.Call]:
    """``k[g, b](d[3:10])``: the elements get a name before the launch, and go back to their place after it.

    Side condition, checked when the function is read: no other argument of the launch sees the array, but for another
    row of it, and but where the launch writes to neither.
    """
    scope = reader.scope
    before: list[h.Stmt] = []
    after: list[h.Stmt] = []
    args = list(call.args)
    function = scope.functions.get(launched(scope, call))
    written = stored(function) if function is not None else ()
    for at, a in enumerate(args):
        node = _row(scope, a.value, function.params[at].type if function and at < len(function.params) else None)
        piece = values.part(scope, node) if isinstance(node, cst.Subscript) else None
        if not isinstance(node, cst.Subscript) or not scope.is_array(node) or dotted(node.value) not in scope.arrays:
            continue
        if piece is not None and piece.count is None:
            continue  # from a place on: the launch takes it as it is
        whose = dotted(node.value)
        own = scope.fresh(f"{whose.replace('.', '_')}_part")
        scope.arrays.add(own)
        before.append(h.Bind(own, values.value(scope, node), span=scope.span(node)))
        changes = [n >= len(written) or written[n] for n in range(len(args))]
        if changes[at]:
            after += reader.store(node, h.Whole(own), node)
        others = {
            n
            for n, x in ((base(x.value), x) for x in call.args if x is not a)
            if n in scope.arrays
            and (changes[at] or changes[call.args.index(x)])
            and not (n == whose and _other_row(scope, a.value, x.value))
        }
        scope.apart.append((whose, frozenset(others), node))
        args[at] = a.with_changes(value=cst.Name(own))
    if not before:
        return before, after, call
    changed = call.with_changes(args=args)
    scope.source.positions.setdefault(changed, scope.source.positions.get(call))
    return before, after, changed


def _row(scope: HostScope, node: cst.BaseExpression, wanted: Type | None) -> cst.BaseExpression:
    """``d[t]`` as ``d[t, :]`` where the launch takes an array: a row, no element."""
    match node:
        case cst.Subscript(slice=items) if isinstance(wanted, ArrayType) and dotted(node.value) in scope.arrays:
            if all(isinstance(i.slice, cst.Index) and not isinstance(i.slice.value, cst.Tuple) for i in items):
                axes = [cst.SubscriptElement(cst.Slice(None, None)) for _ in range(wanted.ndim)]
                given = [i.with_changes(comma=cst.MaybeSentinel.DEFAULT) for i in items]
                made = node.with_changes(slice=[*given, *axes])
                for new, old in ((made, node), *zip(given, items, strict=True)):
                    scope.source.positions.setdefault(new, scope.source.positions.get(old))  # type: ignore[arg-type]
                return made
    return node


def _other_row(scope: HostScope, one: cst.BaseExpression, two: cst.BaseExpression) -> bool:
    """Are two parts of an array surely different rows of it: ``d[t]`` and ``d[t + 1]``, where t is not negative?"""
    ends = [_first(p) for p in (one, two)]
    if None in ends:
        return False
    (first, by), (second, to) = ends  # type: ignore[misc]
    if first != second or by == to:
        return False
    return min(by, to) + scope.counters.get(first, 0) >= 0 if first in scope.counters else not first and by * to >= 0


def _first(node: cst.BaseExpression) -> tuple[str, int] | None:
    """The row that a part is of, as a name and a number."""
    match node:
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=index)), *_]):
            match index:
                case cst.Name(value=name):
                    return name, 0
                case cst.BinaryOperation(left=cst.Name(value=name), operator=cst.Add() | cst.Subtract() as sign):
                    by = number(index.right)
                    return None if by is None else (name, by if isinstance(sign, cst.Add) else -by)
            whole = number(index)
            return None if whole is None else ("", whole)
    return None


def least(loop: cst.For) -> int | None:
    """The least number of a loop over ``range``, upwards from a whole number; None for another, and where the body
    sets the counter, too."""
    match loop:
        case cst.For(target=cst.Name(value=var), iter=cst.Call(args=[_])) if var not in assigned(loop.body):
            return 0
        case cst.For(target=cst.Name(value=var), iter=cst.Call(args=[start, _, *step])) if var not in assigned(
            loop.body
        ) and (not step or (number(step[0].value) or 0) > 0):
            return number(start.value)
    return None


def check_apart(scope: HostScope, body: tuple[h.Stmt, ...]) -> None:
    """Refuses a launch that gets a part of an array and, under another name, that array."""
    memory = Memory(body)
    for whose, others, where in scope.apart:
        if memory(whose) in map(memory, others):
            raise scope.refuse(where, f"another argument of this launch may see {whose} too", "copy the part first")


def base(node: cst.BaseExpression) -> str:
    """``d`` of ``d``, ``d[3:]``, ``d.T``, ``d.reshape(-1)``."""
    while not dotted(node) or (isinstance(node, cst.Attribute) and node.attr.value == "T"):
        match node:
            case cst.Subscript(value=inner) | cst.Attribute(value=inner) | cst.Call(func=inner):
                node = inner
            case _:
                return ""
    name = dotted(node)
    return name.rpartition(".")[0] if name.rpartition(".")[2] in ("reshape", "ravel", "view") else name
