"""Loads of each element several times in a row: ``x[i // 2]`` over twice as many places is ``jnp.repeat(x, 2)``.

No index arrays, and a gradient that is a sum of neighbours. (Measured on an image enlarged twice: a third of the time.)
The side conditions: the number is a constant, and the places are counted from the first one. Of the last element there
may be fewer: what is too much is cut off.
"""

from __future__ import annotations

from kraise.emit.context import Context
from kraise.emit.loads.dims import Dim, Gather, Range, Scalar
from kraise.emit.loads.views import expression
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.python import ALL, Py, Slice
from kraise.ir import equations as eq
from kraise.ir.types import INT

Loaded = tuple[Py, list[Dim], tuple[Linear, ...]]


def repeated(ctx: Context, base: Py, dims: list[Dim], extents: tuple[Linear, ...]) -> Loaded:
    """The array with its elements repeated, and what the subscripts are of it; as given if they have another form."""
    if not any(isinstance(d, Gather) for d in dims):
        return base, dims, extents
    new, sizes, counts = list(dims), list(extents), [0] * len(dims)
    parts: list[Py] = [ALL] * len(dims)
    for k, d in enumerate(dims):
        found = _divided(d) if isinstance(d, Gather) else None
        if found is not None:
            axis, count, few = found
            new[k], sizes[k], counts[k] = Range(axis, Linear(), linear(axis.hi), 1), few.times(count), count
            parts[k] = ALL if few.same(extents[k]) else Slice(None, ctx.static(few))
        elif not isinstance(d, Range | Scalar):
            return base, dims, extents
    along = [d.axis for d in new if isinstance(d, Range)]
    if len(set(along)) < len(along):
        return base, dims, extents  # a diagonal
    while parts and parts[-1] == ALL:
        parts.pop()
    base = py.Sub(base, tuple(parts)) if parts else base
    for k, count in enumerate(counts):
        if count:
            axis_of = {"axis": py.number(k)} if len(dims) > 1 else {}
            base = py.call("jnp.repeat", base, py.number(count), **axis_of)
    return base, new, tuple(sizes)


def _divided(d: Gather) -> tuple[eq.Axis, int, Linear] | None:
    """The axis, by how much its index is divided, and how many elements that makes."""
    match d.expr:
        case eq.Op(name="floordiv" | "tdiv", args=(eq.Index(name=name), eq.Const(value=int() as count))) if count > 1:
            axis = next((a for a in d.axes if a.name == name), None)
            if axis is None or len(d.axes) != 1 or axis.step != 1 or not linear(axis.lo).same(Linear()):
                return None
            size = linear(axis.hi)
            if any(c % count for c in (size.constant, *(c for _, c in size.terms))):
                up = eq.Op("floordiv", (expression(size + (count - 1)), eq.Const(count, INT)), INT)
                return axis, count, linear(up)
            return axis, count, Linear(tuple((a, c // count) for a, c in size.terms), size.constant // count)
    return None


__all__ = ["repeated"]
