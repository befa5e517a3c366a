"""The first place of an extremum, found by each lane among its own and then among the lanes: one arg-reduction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, ScalarType
from kraise.ir.walk import free_indices, substitute, transform
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import tidy


def one_place(node: eq.Reduce, whole: Callable[[eq.Reduce], eq.Reduce]) -> eq.Expr | None:
    """``min over lanes whose extremum is the row's of the first place in the lane's share`` as the first place in the
    row; None if ``node`` is nothing of the kind. ``whole`` merges the axes of a reduction."""
    match node:
        case eq.Reduce(op="min" | "max" as way, where=eq.Op(name="eq", args=(a, b))):
            pass
        case _:
            return None
    for one, other in ((a, b), (b, a)):
        (own, start), (best, same) = _from_start(one), _from_start(other)
        if own is None or best is None or start is not same:
            continue
        if own.op not in ("min", "max") or own.op != best.op or len(own.axes) != 1 or len(best.axes) != 1:
            continue
        if best.where is not None or whole(eq.Reduce(own.op, node.axes, own, None, own.type)) is not best:
            continue
        found = _place(node.body, own, one, start)
        if found is None or found.place.last != (way == "max"):
            continue
        (axis,) = best.axes
        if tidy(substitute(best.body, {eq.Index(axis.name, axis.lo.type): to_expr(found.at)})) is not own.body:
            continue
        place = eq.ArgReduce(own.op, axis, best.body, None, found.place.last, found.place.type)
        if found.otherwise is None:
            return simplify.cast(node.type, place) if start is None else None
        if found.place.last:
            continue
        # a row of nothing that is better than the start: no lane has found a place
        if start is None and to_poly(found.otherwise) == to_poly(axis.lo):
            return simplify.cast(node.type, place)
        limit = start if start is not None else _neutral(own)
        better = eq.Op("gt" if own.op == "max" else "lt", (best, limit), BOOL)
        return simplify.select(better, simplify.cast(node.type, place), found.otherwise, node.type)
    return None


def _from_start(e: eq.Expr) -> tuple[eq.Reduce | None, eq.Expr | None]:
    """An extremum, and the number that it starts from: ``max(-1e30, max of x[k])``."""
    match e:
        case eq.Reduce():
            return e, None
        case eq.Op(name=name, args=(eq.Const() as start, eq.Reduce(op=op) as found)) if op == name:
            return found, start
        case eq.Op(name=name, args=(eq.Reduce(op=op) as found, eq.Const() as start)) if op == name:
            return found, start
    return None, None


def _neutral(own: eq.Reduce) -> eq.Expr:
    return eq.Const(float("inf") if own.op == "min" else float("-inf"), own.type)


@dataclass(frozen=True)
class _Place:
    """The place of an extremum in a lane's share, where that is in the row (of the share's own index), and what stands
    for it where the extremum is no better than the start (None: nothing does)."""

    place: eq.ArgReduce
    at: Poly
    otherwise: eq.Expr | None


def _place(e: eq.Expr, own: eq.Reduce, shown: eq.Expr, start: eq.Expr | None) -> _Place | None:
    """What ``e`` says of the place of ``own``, which ``shown`` is, from ``start`` on."""
    otherwise = None
    match e:
        case eq.Op(name="select", args=(eq.Op(name="gt" | "lt" as name, args=(c, limit)), a, b)):
            while isinstance(limit, eq.Cast) and limit.type.is_inexact:
                limit = limit.arg
            wanted = start if start is not None else _neutral(own)
            assert isinstance(wanted, eq.Const)
            if c not in (own, shown) or name != ("lt" if own.op == "min" else "gt"):
                return None
            if not isinstance(limit, eq.Const) or limit.value != wanted.value:
                return None
            e, otherwise = a, b
    if otherwise is not None and free_indices(otherwise):
        return None  # another one for each lane
    poly = to_poly(transform(e, _bare))
    for place in poly.atoms():
        if not isinstance(place, eq.ArgReduce):
            continue
        alike = (place.op, (place.axis,), place.body, place.where) == (own.op, own.axes, own.body, own.where)
        times = poly.coefficient(place).value
        if alike and times is not None and times > 0:
            index = eq.Index(place.axis.name, place.axis.lo.type)
            return _Place(place, poly.without(place) + to_poly(index) * times, otherwise)
    return None


def _bare(e: eq.Expr) -> eq.Expr:
    """Without casts that keep any place."""
    return e.arg if isinstance(e, eq.Cast) and _wide(e.type) and _wide(e.arg.type) else e


def _wide(t: ScalarType) -> bool:
    return t.is_integer and (t.bits or 32) >= 32


__all__ = ["one_place"]
