"""Sums over the first portion of a range of what the portions have at the same place: a sum over the range.

``sum over t < 128 of x[t] + x[t + 128]`` is what a thread leaves that adds two elements up before its block does;
``sum over t < 256 of x[t]`` is one pass over the array, and one slice of its gradient. An element of a portion may be
absent: ``a + b if c else a`` is ``a + (b if c else 0)``. Sums of their own (four accumulators of a loop in steps of
four) are the same in another order. The side conditions: the addends are one expression but for numbers that move in
step, and the place and the number of the portion are digits of one index.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from kraise.analysis.conditions import classify, fact_to_expr
from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import Unmovable, substitute, topological, transform
from kraise.raising.run.arithmetic import index_like
from kraise.raising.threads.tiles import merged_reductions
from kraise.raising.writes.rolled import along

_MOST = 16
_PARTS = 64  # of an expression that is looked at for sums among them
_NEUTRAL: dict[str, float] = {"add": 0.0, "min": float("inf"), "max": float("-inf")}


def in_one(e: eq.Expr, path: tuple[eq.Expr, ...]) -> eq.Expr:
    """``e`` with each sum (or extremum) over portions of a range as one over the range; ``path`` holds around it."""

    def one(node: eq.Expr) -> eq.Expr:
        if isinstance(node, eq.Op) and node.name in _NEUTRAL:
            return _of_sums(node, path) or node
        if not isinstance(node, eq.Reduce) or node.op not in _NEUTRAL or node.type.is_integer or node.where is not None:
            return node
        nothing = _NEUTRAL[node.op]
        parts = [p for p in _parts(node.body, node.op) if not (isinstance(p, eq.Const) and p.value == nothing)]
        if not 2 <= len(parts) <= _MOST:
            return node
        return _whole(node, parts, path) or node

    return transform(e, one)


def _whole(node: eq.Reduce, parts: list[eq.Expr], path: tuple[eq.Expr, ...]) -> eq.Expr | None:
    """The reduction over the range whose portions ``parts`` are over the axes of ``node``."""
    taken = frozenset(n.name for n in topological((node, *parts)) if isinstance(n, eq.Index))
    found = along(node.op, parts, taken | {a.name for a in node.axes}, node.type)
    if found is None:
        return _longer(node, parts, path)
    whole = merged_reductions(eq.Reduce(node.op, (*node.axes, *found.axes), found.body, None, node.type), path)
    return _named(whole, node) if isinstance(whole, eq.Reduce) and len(whole.axes) == len(node.axes) else None


def _longer(node: eq.Reduce, parts: list[eq.Expr], path: tuple[eq.Expr, ...]) -> eq.Expr | None:
    """The same for portions as long as an axis: ``x[t] + x[t + block]`` over t < block is x over t < 2 * block."""
    for axis in node.axes:
        index = eq.Index(axis.name, INT)
        if axis.step != 1 or to_poly(axis.lo).terms or to_poly(axis.hi).value is not None:
            continue
        size = to_poly(axis.hi)
        try:
            there = [_plain(parts[0], {index: to_expr(to_poly(index) + size * k)}) for k in range(len(parts))]
        except Unmovable:  # what a loop computes for each index is said of that index only
            continue
        if there == [_plain(p, {}) for p in parts]:
            longer = replace(axis, hi=to_expr(size * len(parts)))
            axes = tuple(longer if a is axis else a for a in node.axes)
            return merged_reductions(eq.Reduce(node.op, axes, parts[0], None, node.type), path)
    return None


def _plain(e: eq.Expr, at: dict[eq.Expr, eq.Expr]) -> eq.Expr:
    """``e`` with other values for indices, sums of indices in one form and comparisons as what is not negative."""

    def one(n: eq.Expr) -> eq.Expr:
        fact = classify(n) if n.type.kind == "bool" else None
        if fact is not None:
            return fact_to_expr(fact)
        return to_expr(to_poly(n)) if index_like(n) else n

    return transform(substitute(e, at), one)


def _named(whole: eq.Reduce, node: eq.Reduce) -> eq.Reduce:
    """The index over the range under the name that the source gives to one over its portions."""
    new = [a for a in whole.axes if a not in node.axes and a.name not in {b.name for b in node.axes}]
    old = [a for a in node.axes if a.name not in {b.name for b in whole.axes}]
    if len(new) != 1 or len(old) != 1 or whole.where is not None:
        return whole
    axes = tuple(replace(a, name=old[0].name) if a is new[0] else a for a in whole.axes)
    body = substitute(whole.body, {eq.Index(new[0].name, INT): eq.Index(old[0].name, INT)})
    return eq.Reduce(whole.op, axes, body, None, whole.type)


def _of_sums(node: eq.Op, path: tuple[eq.Expr, ...]) -> eq.Expr | None:
    """``sum of x[4 * k] + … + sum of x[4 * k + 3]`` as the sum of x, beside what else is added."""
    parts = _parts(node, node.name) if not node.type.is_integer else ()
    sums = [p for p in parts if isinstance(p, eq.Reduce) and p.op == node.name and p.where is None]
    if not 2 <= len(sums) <= _MOST or any((p.axes, p.type) != (sums[0].axes, node.type) for p in sums):
        return None
    whole = _whole(sums[0], [p.body for p in sums], path)
    others = [p for p in parts if p not in sums]
    if whole is None:
        return None
    out: eq.Expr = whole
    for other in others:
        out = eq.Op(node.name, (out, other), node.type)
    return out


@lru_cache(maxsize=1 << 12)  # expressions share parts: a chain of choices has exponentially many ways through it
def _parts(e: eq.Expr, op: str) -> tuple[eq.Expr, ...]:
    """What ``op`` combines to ``e``: each addend, under its condition where it may be absent; ``e`` alone where there
    are many."""
    if not isinstance(e, eq.Op):
        return (e,)
    found: tuple[eq.Expr, ...] = (e,)
    if e.name == op:
        found = tuple(p for a in e.args for p in _parts(a, op))
    elif e.name == "select":
        condition, there, other = e.args
        more, fewer = _parts(there, op), _parts(other, op)
        if len(fewer) < len(more) and fewer == more[: len(fewer)]:
            absent = eq.Const(_NEUTRAL[op], e.type)
            found = (*fewer, *(eq.Op("select", (condition, p, absent), e.type) for p in more[len(fewer) :]))
    return found if len(found) <= _PARTS else (e,)


__all__ = ["in_one"]
