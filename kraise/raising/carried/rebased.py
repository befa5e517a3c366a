"""Sums of lanes, each relative to an extremum of the lane's own, put together to one that is relative to the extremum
of all: ``sum(s * exp(m - max(m)))``.

Side conditions, each checked: the extremum and the sum are over the same lanes; each lane has met an element, or begins
with a finite extremum (of two lanes that have met none ``exp(-inf - -inf)`` makes sums that are no numbers).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kraise.analysis.conditions import classify, conjuncts
from kraise.analysis.dependence import implied
from kraise.analysis.poly import Poly, to_expr
from kraise.ir import equations as eq
from kraise.ir.print_equations import render_expr
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import substitute, topological
from kraise.raising.carried.rescaled import power_of
from kraise.raising.optimistic import decided
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import tidy
from kraise.raising.run.context import Context
from kraise.raising.run.state import State


def rebased(total: eq.Reduce, top: eq.Reduce, exponential: str) -> eq.Reduce | None:
    """The sum of the lanes with each addend relative to the extremum of all; None where they are not over the same
    lanes."""
    if total.op != "add" or len(total.axes) != len(top.axes):
        return None
    names = zip(top.axes, total.axes, strict=True)
    moved: dict[eq.Expr, eq.Expr] = {eq.Index(a.name, INT): eq.Index(b.name, INT) for a, b in names}
    axes = tuple(replace(a, name=b.name) for a, b in zip(top.axes, total.axes, strict=True))
    where = None if top.where is None else substitute(top.where, moved)
    if axes != total.axes or where is not total.where:
        return None
    return replace(total, body=_scaled(total.body, substitute(top.body, moved), top, exponential))


def demand_elements(cx: Context, asked: Sequence[eq.Expr]) -> None:
    """Checks what :func:`met_elements` asks for at run time."""
    known = {p.name for p in cx.function.params}
    for c in asked:
        own = all(n.name in known for n in topological((c,)) if isinstance(n, eq.Param))
        shown = f"{render_expr(c)} must hold" if own else "exp(-inf - -inf) is no number"
        cx.checks.append((c, f"each lane must have an element: {shown}"))


def met_elements(st: State, e: eq.Expr | None) -> list[eq.Expr] | None:
    """What must hold of sizes that no lane's extremum is infinite, the data being finite; None if that is not known."""
    match e:
        case eq.Read():
            return []
        case eq.Const(value=value):
            return [] if abs(value) < float("inf") else None
        case eq.Op(name="select", args=(_, a, b)):
            first, second = met_elements(st, a), met_elements(st, b)
            return None if first is None or second is None else [*first, *second]
        case eq.Op(name="max" | "min", args=args):
            finite = any(isinstance(a, eq.Const) and abs(a.value) < float("inf") for a in args)
            return [] if finite else None
        case eq.Reduce(op="max" | "min", axes=axes, body=body, where=where):
            start = {eq.Index(a.name, INT): a.lo for a in axes}
            out = met_elements(st, tidy(substitute(body, start)))
            if out is None:
                return None
            for c in () if where is None else conjuncts(where):
                known = _everywhere(st, tidy(substitute(c, start)))
                if known is None:
                    return None
                out.append(known)
            runs = [eq.Op("lt", (a.lo, a.hi), BOOL) for a in axes]
            return [c for c in (*out, *(c for c in runs if not implied(tuple(out), c))) if decided(c) is not True]
    return None


def _everywhere(st: State, c: eq.Expr) -> eq.Expr | None:
    """A condition on sizes under which ``c`` holds for all threads."""
    fact = classify(c)
    if fact is None or fact.kind != "ge":
        return None
    poly = fact.poly
    for name in sorted(poly.indices()):
        index = eq.Index(name, INT)
        last = [
            f.poly.without(index)
            for f in map(classify, (*st.path, *st.facts))
            if f is not None and f.kind == "ge" and f.poly.coefficient(index).value == -1 and len(f.poly.indices()) == 1
        ]
        if not poly.is_affine_in((name,)) or (poly.coefficient(index).value or 0) >= 0 or not last:
            return None
        poly = poly.substitute(index, last[0])
    size = Poly({m: c for m, c in poly.terms.items() if m and c > 0})
    return None if poly.indices() else eq.Op("ge", (to_expr(size), to_expr(size - poly)), BOOL)


def _scaled(e: eq.Expr, before: eq.Expr, after: eq.Reduce, exponential: str) -> eq.Expr:
    """The addend of one lane relative to the extremum of all."""
    match e, before:
        case eq.Op(name="select", args=(c, a, eq.Const(value=0) as none)), eq.Op(name="select", args=(d, m, _)) if (
            c is d
        ):
            return simplify.select(c, _scaled(a, m, after, exponential), none, e.type)
    sign = -1 if after.op == "max" else 1
    if power_of(e, before) == (exponential, sign, ()):
        return substitute(e, {before: after})
    difference = (before, after) if sign < 0 else (after, before)
    weight = simplify.op(exponential, (simplify.op("sub", difference, after.type),), after.type)
    return simplify.op("mul", (e, weight), e.type)


__all__ = ["demand_elements", "met_elements", "rebased"]
