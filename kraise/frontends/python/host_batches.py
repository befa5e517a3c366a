"""Loops of Python host functions over slices of some length: ``for s in range(0, n, size)`` with ``x[s : s + size]``.

NumPy ends such a slice where the array ends; ``jax.lax.dynamic_slice`` would move its start. So the loop is two: over
the whole slices, which may start where the counter says, and over what is left, whose bounds are known when the
function is traced. Elsewhere a slice whose end is not known to lie in its array is one with bounds that are known.

Side conditions, checked: the counter is the loop's own, nothing leaves a round early, the sliced arrays and the length
do not change in the loop, and no array is shorter than the loop runs: that of the bound itself, or the emitted function
compares them.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise import dialects
from kraise.frontends.python import host_values as values
from kraise.frontends.python.host_inlined import renamed
from kraise.frontends.python.host_rounds import number
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.host_units import assigned, times_set
from kraise.frontends.python.source import all_of, dotted, walk
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT

ZERO = k.Const(0, INT)


def prepare(scope: HostScope, node: cst.FunctionDef) -> None:
    """Which arrays are as long as a parameter, and which numbers are its length."""
    times = times_set(node)
    given = (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params)
    scope.lengths = {p.name.value: p.name.value for p in given if times[p.name.value] == 1}
    scope.extents = {}
    for inner in walk(node.body):
        match inner:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value) if times[name] == 1:
                if (array := _as_long(scope, value)) in scope.lengths:
                    scope.lengths[name] = scope.lengths[array]
                elif (array := _length(scope, value)) in scope.lengths:
                    scope.extents[name] = scope.lengths[array]
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Tuple(elements=[cst.Element(value=cst.Name(value=name)), *_]))],
                value=cst.Attribute(value=owner, attr=cst.Name(value="shape")),
            ) if times[name] == 1 and dotted(owner) in scope.lengths:
                scope.extents[name] = scope.lengths[dotted(owner)]


def _as_long(scope: HostScope, value: cst.BaseExpression) -> str:
    """The array that an expression is a copy of, or another name for."""
    if isinstance(value, cst.Call):
        concept = dialects.table("host_library")["python"].get(scope.qualified(value.func), "")
        if concept not in ("clone", "alias", "fetch", "convert"):
            return ""
        own = isinstance(value.func, cst.Attribute) and scope.is_array(value.func.value)
        return dotted(value.func.value if own else value.args[0].value)  # type: ignore[attr-defined]
    return dotted(value) if dotted(value) in scope.arrays else ""


def _length(scope: HostScope, value: cst.BaseExpression) -> str:
    """The array whose length an expression is."""
    match value:
        case cst.Subscript(
            value=cst.Attribute(value=owner, attr=cst.Name(value="shape")),
            slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Integer(value="0")))],
        ):
            return dotted(owner)
        case cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=owner)]):
            return dotted(owner)
        case cst.Name(value=name):
            return scope.extents.get(name, "")
    return ""


def batches(reader: Any, node: cst.For, args: list[cst.BaseExpression]) -> list[h.Stmt] | None:
    """The loop as two; None where it is another one."""
    scope: HostScope = reader.scope
    if len(args) != 3 or number(args[0]) != 0 or not isinstance(args[2], cst.Name | cst.Integer):
        return None
    var, size = dotted(node.target), scope.text(args[2])
    sliced = {dotted(n.value) for n in all_of(cst.Subscript, node.body) if scope.slides(n, var, size)}
    inside = assigned(node.body)
    early = bool(all_of(cst.Break | cst.Continue | cst.Return, node.body))
    if not sliced or early or {var, size} & inside or sliced & inside or (number(args[2]) or 1) < 1:
        return None
    bound = scope.lengths.get(_length(scope, args[1]))
    end = values.scalar(scope, args[1])
    top: k.Expr = k.Shape(bound, 0) if bound is not None else end
    fixed = bound is not None or (isinstance(args[1], cst.Name) and args[1].value in scope.lengths)
    if not fixed or any(a not in scope.lengths for a in sliced):
        return None
    for array in sorted({scope.lengths[a] for a in sliced} - {bound}):
        if (pair := (top, k.Shape(array, 0))) not in scope.ordered:
            scope.ordered.append(pair)
    step, span = values.scalar(scope, args[2]), scope.span(node)
    last = k.Op("mul", (k.Op("floordiv", (end, step), INT), step), INT)
    scope.scalars.add(var)
    outer, scope.sliding = scope.sliding, {**scope.sliding, var: size}
    whole = h.For(var, ZERO, last, step, reader.block(node.body.body, True), span=span)
    scope.sliding = outer
    own = scope.fresh(f"{var}_last")
    scope.scalars.add(own)
    rest = renamed(scope.source, node.body, {var: cst.Name(own)})
    left = (h.Assign(var, k.Var(own, INT), INT, span=span), *reader.block(rest.body, True))
    return [whole, h.For(own, last, end, step, left, span=span)]


__all__ = ["batches", "prepare"]
