"""Masks around what is summed: a neutral element where a condition fails is a narrower domain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kraise.analysis.conditions import conjunction, conjuncts, negate
from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import axes_of, free_indices, topological
from kraise.raising.run import simplify
from kraise.raising.run.state import RawWrite

Path = tuple[eq.Expr, ...]
_NEUTRAL = {"add": 0, "mul": 1, "min": float("inf"), "max": float("-inf"), "and": True, "or": False}


def spread(r: RawWrite) -> RawWrite:
    """``y op= Reduce(op, body)`` as ``y op= body`` over the reduced indices too."""
    while r.accumulate:
        e = r.value
        kept = not_neutral(r.accumulate, e)
        if kept is not None:
            guard, inner = kept
            r = replace(r, path=tuple(dict.fromkeys((*r.path, *conjuncts(guard)))), value=inner)
            continue
        if not isinstance(e, eq.Reduce) or e.op != r.accumulate:
            break
        if any(a.name in r.loops for a in e.axes):
            break
        path = (*r.path, *bounds(e.axes), *(conjuncts(e.where) if e.where is not None else ()))
        r = replace(r, loops=(*r.loops, *(a.name for a in e.axes)), path=path, value=e.body)
    return r


def scaled_inside(r: RawWrite) -> RawWrite:
    """``y += Reduce("add", body) * a / b`` as ``y += Reduce("add", body * a / b)`` of floats; else ``r`` itself."""

    def inside(e: eq.Expr) -> eq.Reduce | None:
        match e:
            case eq.Reduce(op="add"):
                kept = not_neutral("add", e.body)
                if kept is None:
                    return e
                where = conjunction([c for c in (e.where, *conjuncts(kept[0])) if c is not None])
                return replace(e, body=kept[1], where=where)
            case eq.Op(name="mul" | "div" as name, args=(a, b), type=t) if t.is_inexact and a.type == t == b.type:
                found, by = inside(a), b
                if found is None and name == "mul":
                    found, by = inside(b), a
                if found is None or free_indices(by) & {x.name for x in found.axes}:
                    return None
                return replace(found, body=eq.Op(name, (found.body, by), t))
            case eq.Op(name="neg", args=(a,), type=t) if t.is_inexact and (found := inside(a)) is not None:
                return replace(found, body=eq.Op("neg", (found.body,), t))
        return None

    found = inside(r.value) if r.accumulate == "add" and not isinstance(r.value, eq.Reduce) else None
    return r if found is None else replace(r, value=found)


def _same_mask(e: eq.Expr) -> eq.Expr:
    """``(x if c else 0) * (y if c else 0)`` as ``x * y if c else 0``."""
    match e:
        case eq.Op(
            name="mul",
            args=(
                eq.Op(name="select", args=(c, a, eq.Const(value=zero))),
                eq.Op(name="select", args=(d, b, eq.Const(value=other))),
            ),
            type=t,
        ) if c is d and str(zero) in ("0", "0.0") and str(other) in ("0", "0.0"):
            return simplify.select(c, eq.Op("mul", (a, b), t), eq.Const(0.0 if t.is_inexact else 0, t), t)
    return e


def not_neutral(op: str, e: eq.Expr) -> tuple[eq.Expr, eq.Expr] | None:
    """``x if c else neutral`` as (c, x)."""
    e = _same_mask(e)
    if not isinstance(e, eq.Op) or e.name != "select":
        return None
    c, a, b = e.args
    for kept, condition, zero in ((a, c, b), (b, negate(c), a)):
        while isinstance(zero, eq.Cast) and zero.type.is_inexact:  # float32(0.0)
            zero = zero.arg
        if isinstance(zero, eq.Const) and op in _NEUTRAL and zero.value == _NEUTRAL[op] and str(zero.value) != "-0.0":
            return condition, kept
    return None


def bounds(axes: Iterable[eq.Axis]) -> Path:
    """The conjuncts that say what the axes say."""
    out: list[eq.Expr] = []
    for a in axes:
        i = eq.Index(a.name, INT)
        out += [eq.Op("ge", (i, a.lo), BOOL), eq.Op("lt", (i, a.hi), BOOL)]
        if a.step != 1:
            gap = eq.Op("mod", (to_expr(to_poly(i) - to_poly(a.lo)), eq.Const(a.step, INT)), INT)
            out.append(eq.Op("eq", (gap, eq.Const(0, INT)), BOOL))
    return tuple(out)


def axes_bounds(e: eq.Expr) -> Path:
    """What the axes of the reductions in ``e`` say of indices that no two of them share."""
    found: dict[str, set[eq.Axis]] = {}
    for n in topological((e,)):
        if isinstance(n, eq.Reduce | eq.ArgReduce):
            for a in axes_of(n):
                found.setdefault(a.name, set()).add(a)
    return bounds(next(iter(axes)) for axes in found.values() if len(axes) == 1)


__all__ = ["axes_bounds", "bounds", "not_neutral", "spread"]
