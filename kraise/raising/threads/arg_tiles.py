"""The first place of an extremum, found by each lane among its own and then among the lanes: one arg-reduction."""

from __future__ import annotations

from collections.abc import Callable

from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.walk import substitute


def one_place(node: eq.Reduce, whole: Callable[[eq.Reduce], eq.Reduce]) -> eq.Expr | None:
    """``min over lanes whose extremum is the row's of the first place in the lane's share`` as the first place in the
    row; None if ``node`` is nothing of the kind. ``whole`` merges the axes of a reduction."""
    match node:
        case eq.Reduce(
            op="min" | "max" as way,
            where=eq.Op(name="eq", args=(eq.Reduce() as a, eq.Reduce() as b)),
        ):
            pass
        case _:
            return None
    for own, best in ((a, b), (b, a)):
        if own.op not in ("min", "max") or own.op != best.op or len(own.axes) != 1 or len(best.axes) != 1:
            continue
        if best.where is not None or whole(eq.Reduce(own.op, node.axes, own, None, own.type)) is not best:
            continue
        place, otherwise = _place(node.body, own)
        if place is None or place.last != (way == "max"):
            continue
        (axis,) = best.axes
        x = eq.Index(own.axes[0].name, axis.lo.type)
        if substitute(own.body, {x: eq.Index(axis.name, axis.lo.type)}) is not best.body:
            continue
        # a row of nothing but the neutral value: no lane has found a place
        if otherwise is not None and (place.last or to_poly(otherwise) != to_poly(axis.lo)):
            continue
        return eq.ArgReduce(own.op, axis, best.body, None, place.last, place.type)
    return None


def _place(e: eq.Expr, own: eq.Reduce) -> tuple[eq.ArgReduce | None, eq.Expr | None]:
    """The place of ``own`` in its share, and what stands for it where the extremum is no better than the neutral
    value."""
    otherwise = None
    match e:
        case eq.Op(name="select", args=(eq.Op(name="gt" | "lt" as name, args=(c, eq.Const(value=value))), a, b)):
            neutral = float("inf") if own.op == "min" else float("-inf")
            if c is not own or name != ("lt" if own.op == "min" else "gt") or value != neutral:
                return None, None
            e, otherwise = a, b
    if isinstance(e, eq.ArgReduce) and (e.op, (e.axis,), e.body, e.where) == (own.op, own.axes, own.body, own.where):
        return e, otherwise
    return None, None


__all__ = ["one_place"]
