"""Names for values that the source did not name."""

from __future__ import annotations

from kraise.emit.context import Context
from kraise.emit.text.linear import linear
from kraise.emit.text.names import OPERATION_NAMES, REDUCTION_NAMES
from kraise.ir import equations as eq

_SIDES = (("left", "right"), ("above", "below"), ("front", "back"))  # along the last axis, the one before, …


def name_for(ctx: Context, node: eq.Expr) -> str:
    """What the value is by its operation: ``difference``, ``x_squared``; by its place: ``u_left``."""
    if node in ctx.hints:
        return ctx.hints[node]
    match node:
        case eq.Op(name="eq", args=(eq.Index(name=a), eq.Index(name=b))):
            return f"{a}_is_{b}"
        case eq.Op(name="mul", args=(a, b)) if a is b:
            short = _short(ctx, a)
            return "power" if short.endswith(("_squared", "power")) else f"{short}_squared"
        case eq.Op(name=name):
            return OPERATION_NAMES.get(name, name)
        case eq.Reduce(op=op):
            return REDUCTION_NAMES.get(op, op)
        case eq.ArgReduce(op=op):
            return "place" if op == "bisect" else f"arg{op}"
        case eq.Scan():
            return "running"
        case eq.Read(version=version):
            return version.array.split(".")[-1] + (_sides(node) or "_at")
        case eq.HelperCall(function=function):
            return function + "_value"
    return "value"


def _sides(node: eq.Read) -> str:
    """Where a load is, seen from the indices: ``_above``, ``_here``; "" where that is not said by one step along one
    axis, or none."""
    forms = [linear(s) for s in node.subscripts]
    if not all(len(f.terms) == 1 and isinstance(f.terms[0][0], eq.Index) and f.terms[0][1] == 1 for f in forms):
        return ""
    steps = [(back, f.constant) for back, f in enumerate(reversed(forms)) if f.constant]
    if not steps:
        return "_here"
    ((back, by),) = steps if len(steps) == 1 else ((len(_SIDES), 0),)
    return f"_{_SIDES[back][by > 0]}" if back < len(_SIDES) and abs(by) == 1 else ""


def _short(ctx: Context, node: eq.Expr) -> str:
    named = ctx.wishes.get(node)
    if named is not None:
        return named.name
    match node:
        case eq.Param(name=name) | eq.CarryIn(name=name) | eq.FoldResult(name=name) | eq.Index(name=name):
            return name.split(".")[-1]
        case eq.Read(version=version):
            return version.array.split(".")[-1]
    return name_for(ctx, node)


__all__ = ["name_for"]
