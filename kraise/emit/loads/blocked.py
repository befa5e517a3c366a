"""Loads of blocks: ``x[i * k + a]`` with 0 <= a < k is row i of ``x`` in rows of k, a slice and a reshape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kraise.emit.context import Context, Frame
from kraise.emit.text import python as py
from kraise.emit.text import tiles
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.python import Py
from kraise.ir import equations as eq


@dataclass(frozen=True)
class Blocks:
    """``size * outer + inner + start`` where ``inner`` runs over ``size`` places: a part of an axis, as two axes; it
    begins at ``start``, the first ``inner`` included."""

    outer: eq.Axis
    inner: eq.Axis
    start: Linear
    stop: Linear


def blocks(context: Context, subscript: eq.Expr, axes: Frame) -> Blocks | None:
    """The subscript as blocks over the two ``axes``, or None if it is something else."""
    if len(axes) != 2 or any(a.step != 1 for a in axes):
        return None
    form = linear(subscript)
    for inner, outer in (axes, axes[::-1]):
        small = [a for a, c in form.terms if isinstance(a, eq.Index) and a.name == inner.name and c == 1]
        big = [(a, c) for a, c in form.terms if outer.name in context.free(a)]
        first = linear(inner.lo)
        if len(small) != 1 or len(big) != 1 or not context.is_static(first):
            continue
        size = _factor(big[0][0], outer.name)
        rest = form.without(small[0]).without(big[0][0]) + first
        extent = context.size(inner)
        if size is None or extent is None or any({a.name for a in axes} & context.free(t) for t, _ in rest.terms):
            continue
        if not (linear(size).times(big[0][1]).same(extent) and context.is_static(rest) and context.is_static(extent)):
            continue
        if not linear(outer.lo).same(Linear()):
            continue
        stop = linear(eq.Op("mul", (outer.hi, size), size.type)).times(big[0][1]) + rest
        stop = tiles.whole(context.kernel, stop)
        if context.is_static(stop):
            return Blocks(outer, inner, rest, stop)
    return None


def told(context: Context, stmt: eq.Write, frame: Frame) -> set[str]:
    """The indices that a cell of a store tells: subscripts, and the digits of one (``size * block + thread``)."""
    own = {s.name for s in stmt.subscripts if isinstance(s, eq.Index)}
    for s in stmt.subscripts:
        axes = tuple(a for a in frame if a.name in context.free(s))
        if blocks(context, s, axes) is not None:
            own |= {a.name for a in axes}
    return own


def _factor(term: eq.Expr, index: str) -> eq.Expr | None:
    """``k`` of ``index * k``."""
    match term:
        case eq.Index(name=name, type=kind) if name == index:
            return eq.Const(1, kind)
        case eq.Op(name="mul", args=(eq.Index(name=name), k)) | eq.Op(name="mul", args=(k, eq.Index(name=name))):
            return k if name == index else None
    return None


def reshaped(context: Context, array: Py, dims: Sequence[object], own: Frame) -> Py:
    """``array`` with an axis for each of ``own``, if blocks are among its dimensions."""
    if not any(isinstance(d, Blocks) for d in dims):
        return array
    return py.method(array, "reshape", *(context.extent(a) for a in own))
