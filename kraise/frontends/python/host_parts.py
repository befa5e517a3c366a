"""Parts of arrays as arguments of a launch in a Python host function (``k[g, b](d[3:10])``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from kraise.frontends.python import host_values as values
from kraise.frontends.python.host_rounds import number
from kraise.frontends.python.host_scope import HostScope, launched
from kraise.frontends.python.host_units import assigned
from kraise.frontends.python.source import all_of, dotted
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_live import Memory, stored
from kraise.ir.types import INT, ArrayType, Type

if TYPE_CHECKING:
    from kraise.frontends.python.host import Reader


def named(reader: Reader, call: cst.Call) -> tuple[list[h.Stmt], list[h.Stmt], cst.Call]:
    """``k[g, b](d[3:10])``: the elements get a name before the launch, and go back to their place after it.

    Side condition, checked when the function is read: no other argument of the launch sees the array, but for a part
    that has no element in common with it (``d[:n]`` and ``d[n:]``), and but where the launch writes to neither.
    """
    scope = reader.scope
    before: list[h.Stmt] = []
    after: list[h.Stmt] = []
    args = list(call.args)
    function = scope.functions.get(launched(scope, call))
    written = stored(function) if function is not None else ()
    parts: dict[str, str] = {}
    stored_back: set[str] = set()
    for at, a in enumerate(args):
        node = _row(scope, a.value, function.params[at].type if function and at < len(function.params) else None)
        piece = values.part(scope, node) if isinstance(node, cst.Subscript) else None
        if not isinstance(node, cst.Subscript) or not scope.is_array(node) or dotted(node.value) not in scope.arrays:
            continue
        whose = dotted(node.value)
        beside = [x.value for x in call.args if x is not a and base(x.value) == whose]
        if piece is not None and piece.count is None and not any(_apart(scope, a.value, x) for x in beside):
            continue  # from a place on: the launch takes it as it is
        changes = [n >= len(written) or written[n] for n in range(len(args))]
        text = scope.text(node)
        if text in parts:  # the same part again: one array for two parameters
            args[at] = a.with_changes(value=cst.Name(parts[text]))
            after += reader.store(node, h.Whole(parts[text]), node) if changes[at] and text not in stored_back else []
            stored_back |= {text} if changes[at] else set()
            continue
        own = parts[text] = scope.fresh(f"{whose.replace('.', '_')}_part")
        scope.arrays.add(own)
        before.append(h.Bind(own, values.value(scope, node), span=scope.span(node)))
        if changes[at]:
            after += reader.store(node, h.Whole(own), node)
            stored_back.add(text)
        others = {
            n
            for n, x in ((base(x.value), x) for x in call.args if x is not a)
            if n in scope.arrays
            and (changes[at] or changes[call.args.index(x)])
            and not (n == whose and (_apart(scope, a.value, x.value) or scope.text(x.value) == scope.text(a.value)))
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


def _apart(scope: HostScope, one: cst.BaseExpression, two: cst.BaseExpression) -> bool:
    """Have two parts of an array surely no element in common, because of some axis?"""
    if not isinstance(one, cst.Subscript) or not isinstance(two, cst.Subscript):
        return False
    if dotted(one.value) != dotted(two.value):
        return False
    axes = list(zip(*(_by_axis(p) for p in (one, two)), strict=False))
    if axes and (ends := _from_both_ends(scope, dotted(one.value), *axes[0])) is not None:
        scope.ordered += [ends] if ends not in scope.ordered else []
        return True
    if any(isinstance(e, cst.Index) and isinstance(e.value, cst.Ellipsis) for pair in axes for e in pair):
        return False
    return any(_no_common(scope, a, b) for a, b in axes)


def _from_both_ends(
    scope: HostScope, array: str, one: cst.BaseSlice, two: cst.BaseSlice
) -> tuple[k.Expr, k.Expr] | None:
    """For ``d[0]`` and ``d[-1]``: the rows that ``d`` must have, and those that it has, as far as parameters say it."""
    if not isinstance(one, cst.Index) or not isinstance(two, cst.Index) or array not in scope.lengths:
        return None
    first, last = sorted(number(e.value) or 0 for e in (one, two))
    if first >= 0 or last < 0 or None in (number(one.value), number(two.value)):
        return None
    return k.Const(last - first + 1, INT), k.Shape(scope.lengths[array], 0)


def _by_axis(node: cst.Subscript) -> list[cst.BaseSlice]:
    return [i.slice for i in node.slice]


def _no_common(scope: HostScope, one: cst.BaseSlice, two: cst.BaseSlice) -> bool:
    """The same of what stands for one axis."""
    if isinstance(one, cst.Index) and isinstance(two, cst.Index):
        return _other_row(scope, one.value, two.value)
    if isinstance(one, cst.Slice) and isinstance(two, cst.Slice):
        if one.step is None and two.step is None:
            return _ends_before(scope, one, two) or _ends_before(scope, two, one)
        steps = [number(s.step) if s.step is not None else None for s in (one, two)]
        starts = [0 if s.lower is None else number(s.lower) for s in (one, two)]
        if None in (*steps, *starts) or steps[0] != steps[1]:
            return False
        return all(0 <= at < steps[0] for at in starts) and starts[0] != starts[1]  # type: ignore[operator]
    index, part = (one, two) if isinstance(one, cst.Index) else (two, one)
    if not isinstance(index, cst.Index) or not isinstance(part, cst.Slice) or part.step is not None:
        return False
    at = number(index.value)
    low, high = (number(e) if e is not None else None for e in (part.lower, part.upper))
    if at is None or at < 0:
        return False
    return (low is not None and low > at) or (high is not None and 0 <= high <= at)


def _ends_before(scope: HostScope, one: cst.Slice, two: cst.Slice) -> bool:
    """Does a slice end where another begins, or before? ``a[:e]`` and ``a[e:]`` share nothing, whatever e is."""
    if one.upper is None or two.lower is None:
        return False
    if scope.text(one.upper) == scope.text(two.lower) and not all_of(cst.Call, one.upper):
        return True
    end, start = number(one.upper), number(two.lower)
    return end is not None and start is not None and 0 <= end <= start


def _other_row(scope: HostScope, one: cst.BaseExpression, two: cst.BaseExpression) -> bool:
    """Are two indices surely different: ``t`` and ``t + 1``, where t is not negative?"""
    ends = [_first(p) for p in (one, two)]
    if None in ends:
        return False
    (first, by), (second, to) = ends  # type: ignore[misc]
    if first != second or by == to:
        return False
    if first in scope.counters:
        return min(by, to) + scope.counters[first] >= 0
    return not first and (by < 0) == (to < 0)


def _first(index: cst.BaseExpression) -> tuple[str, int] | None:
    """An index as a name and a number."""
    match index:
        case cst.Name(value=name):
            return name, 0
        case cst.BinaryOperation(left=cst.Name(value=name), operator=cst.Add() | cst.Subtract() as sign):
            by = number(index.right)
            return None if by is None else (name, by if isinstance(sign, cst.Add) else -by)
    whole = number(index)
    return None if whole is None else ("", whole)


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
