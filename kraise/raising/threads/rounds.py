"""Parameters that count the rounds of loops around a kernel's launches (``for k in range(n): eliminate(a, n, k)``).

Such a number is no size: if it bounded slices, each round would be a program of its own to be compiled. It is the index
of a sequential loop like any other (raising.md, steps 2 and 9), but that the loop stands in a host function: proofs see
a number that all threads share, domains are the hull over all rounds, and what belongs to a round is a mask.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.boxes import Unbounded, box
from kraise.analysis.conditions import both
from kraise.diagnostics import refuse
from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL, INT, ScalarType
from kraise.ir.walk import axes_of, free_indices, substitute, transform
from kraise.raising.run.context import Context
from kraise.raising.run.state import Raw, RawFold, RawWrite, State, map_access, map_raw
from kraise.raising.writes.masks import bounds


def counted(cx: Context) -> tuple[eq.Expr, ...]:
    """What the loops around say of the parameters: true of every launch, for proofs."""
    number = _numbers(cx)
    out = [eq.Op("ge", (number[a.name], a.lo), BOOL) for a in cx.rounds_around]
    return (*out, *(eq.Op("lt", (number[a.name], a.hi), BOOL) for a in cx.rounds_around))


def as_indices(cx: Context, st: State) -> None:
    """The parameters as indices in all that the run has recorded.

    Raises:
        Refused: a loop of the kernel's own has one of them as a bound and carries more than arrays, or a check of
            sizes holds one.
    """
    if not cx.rounds_around:
        return
    names = {a.name for a in cx.rounds_around}

    def fn(e: eq.Expr) -> eq.Expr:
        return transform(moving(cx, e), lambda n: _hull(cx, n, names))

    st.out = [_bounded(cx, map_raw(r, fn), names) for r in st.out]
    st.accesses = [map_access(a, fn) for a in st.accesses]
    st.env = {n: fn(e) for n, e in st.env.items()}
    st.names = {(e := fn(n.expr)): replace(n, expr=e) for n in st.names.values()}
    for condition in (*cx.assumed, *(c for c, _ in cx.checks)):
        if free_indices(fn(condition)):
            raise refuse("KR299", f"{render_expr(condition)} cannot be checked in a loop", cx.function.span)
    for a in cx.rounds_around:
        last = render_expr(a.hi)
        cx.assumptions.append(f"{render_expr(a.lo)} <= {a.name} < {last}, as in the loop that launches it")


def moving(cx: Context, e: eq.Expr) -> eq.Expr:
    """``e`` with the parameters as indices: a flat subscript is then taken apart at them, too."""
    return substitute(e, {p: eq.Index(n, INT) for n, p in _numbers(cx).items()}) if cx.rounds_around else e


def numbered(cx: Context, e: eq.Expr) -> eq.Expr:
    """What :func:`moving` gave, with the parameters as numbers again."""
    return substitute(e, {eq.Index(n, INT): p for n, p in _numbers(cx).items()}) if cx.rounds_around else e


def _numbers(cx: Context) -> dict[str, eq.Param]:
    names = {a.name for a in cx.rounds_around}
    own = (p for p in cx.function.params if p.name in names)
    return {p.name: eq.Param(p.name, p.type) for p in own if isinstance(p.type, ScalarType)}


def _moving(axes: tuple[eq.Axis, ...], names: set[str]) -> tuple[eq.Axis, ...]:
    return tuple(a for a in axes if (free_indices(a.lo) | free_indices(a.hi)) & names)


def _hull(cx: Context, node: eq.Expr, names: set[str]) -> eq.Expr:
    """A reduction whose range depends on the round as one over the hull, under a mask."""
    own = _moving(axes_of(node), names)
    if not own:
        return node
    if not isinstance(node, eq.Reduce):
        raise refuse("KR299", "a search or a running value ends where the loop around the launch says", None)
    where = node.where
    inner = bounds(own)
    for c in inner:
        where = both(where, c)
    found = {a.name: a for a in _boxes(cx, own, inner)}
    return replace(node, axes=tuple(found.get(a.name, a) for a in node.axes), where=where)


def _bounded(cx: Context, raw: Raw, names: set[str]) -> Raw:
    """A loop whose range depends on the round as one over the hull; its stores are under their own conditions."""
    if not isinstance(raw, RawFold):
        return raw
    fold = raw.fold
    lanes = (*(s.axes for s in fold.scalars), *(o.axes for o in fold.outputs))
    if any(_moving(axes, names) for axes in lanes):
        raise refuse("KR299", "a running value has lanes that the loop around the launch counts", fold.span)
    if fold.axis is not None and _moving((fold.axis,), names):
        if fold.scalars or fold.outputs or fold.axis.step != 1:
            raise refuse("KR299", "a loop with a running value ends where the loop around the launch says", fold.span)
        inner = bounds((fold.axis,))
        fold = replace(fold, axis=_boxes(cx, (fold.axis,), inner)[0])
        raw = RawFold(fold, tuple(_under(r, inner) for r in raw.body))
    return replace(raw, body=tuple(_bounded(cx, r, names) for r in raw.body))


def _under(raw: Raw, conditions: tuple[eq.Expr, ...]) -> Raw:
    """``raw`` where the conditions hold."""
    match raw:
        case RawWrite():
            return replace(raw, path=tuple(dict.fromkeys((*raw.path, *conditions))))
        case RawFold(fold, body):
            if fold.scalars or fold.outputs:
                raise refuse("KR299", "a running value stands in a loop that ends where the launch says", fold.span)
            return RawFold(fold, tuple(_under(r, conditions) for r in body))
    return raw


def _boxes(cx: Context, axes: tuple[eq.Axis, ...], inner: tuple[eq.Expr, ...]) -> tuple[eq.Axis, ...]:
    around = tuple(a.name for a in cx.rounds_around)
    try:
        found = box(tuple(a.name for a in axes), (*inner, *bounds(cx.rounds_around)), around).axes
    except Unbounded as unbounded:
        raise refuse("KR205", f"nothing bounds index {unbounded.name} in all rounds", cx.function.span) from None
    return tuple(replace(f, step=a.step) for f, a in zip(found, axes, strict=True))


__all__ = ["as_indices", "counted", "moving", "numbered"]
