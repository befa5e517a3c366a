"""Sums over the first portion of a range of what the portions have at the same place: a sum over the range.

``sum over t < 128 of x[t] + x[t + 128]`` is what a thread leaves that adds two elements up before its block does;
``sum over t < 256 of x[t]`` is one pass over the array, and one slice of its gradient. An element of a portion may be
absent: ``a + b if c else a`` is ``a + (b if c else 0)``. The side conditions: the addends are one expression but for
numbers that move in step, and the place and the number of the portion are digits of one index.
"""

from __future__ import annotations

from kraise.ir import equations as eq
from kraise.ir.walk import topological, transform
from kraise.raising.threads.tiles import merged_reductions
from kraise.raising.writes.rolled import along

_MOST = 16
_NEUTRAL: dict[str, float] = {"add": 0.0, "min": float("inf"), "max": float("-inf")}


def in_one(e: eq.Expr, path: tuple[eq.Expr, ...]) -> eq.Expr:
    """``e`` with each sum (or extremum) over portions of a range as one over the range; ``path`` holds around it."""

    def one(node: eq.Expr) -> eq.Expr:
        if not isinstance(node, eq.Reduce) or node.op not in _NEUTRAL or node.type.is_integer or node.where is not None:
            return node
        nothing = _NEUTRAL[node.op]
        parts = [p for p in _parts(node.body, node.op) if not (isinstance(p, eq.Const) and p.value == nothing)]
        if not 2 <= len(parts) <= _MOST:
            return node
        taken = frozenset(n.name for n in topological((node,)) if isinstance(n, eq.Index))
        found = along(node.op, parts, taken | {a.name for a in node.axes}, node.type)
        if found is None:
            return node
        whole = merged_reductions(eq.Reduce(node.op, (*node.axes, *found.axes), found.body, None, node.type), path)
        return whole if isinstance(whole, eq.Reduce) and len(whole.axes) == len(node.axes) else node

    return transform(e, one)


def _parts(e: eq.Expr, op: str) -> list[eq.Expr]:
    """What ``op`` combines to ``e``: each addend, under its condition where it may be absent."""
    if not isinstance(e, eq.Op):
        return [e]
    if e.name == op:
        return [p for a in e.args for p in _parts(a, op)]
    if e.name == "select":
        condition, there, other = e.args
        more, fewer = _parts(there, op), _parts(other, op)
        if len(fewer) < len(more) and fewer == more[: len(fewer)]:
            absent = eq.Const(_NEUTRAL[op], e.type)
            return [*fewer, *(eq.Op("select", (condition, p, absent), e.type) for p in more[len(fewer) :])]
    return [e]


__all__ = ["in_one"]
