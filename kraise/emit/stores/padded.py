"""The first store to a new array of zeros: what fills its first cells is padded with zeros, and zeros change nothing.

``jnp.pad(v, (0, 8 - n))`` is ``jnp.zeros(8).at[:n].set(v)``, in one step. (XLA 0.10 for CPUs dies of the latter where n
is 8 and the array is then read backwards.)
"""

from __future__ import annotations

import math

from kraise.emit.context import Context
from kraise.emit.loads.dims import Dim, Range
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear
from kraise.emit.text.python import Py
from kraise.ir import equations as eq


def widths(ctx: Context, stmt: eq.Write, dims: list[Dim], extents: tuple[Linear, ...]) -> Py | None:
    """``jnp.pad``'s widths for a store to ``dims`` of an array that was not touched before; None for others."""
    plain = not stmt.accumulate and stmt.where is None and not stmt.view and not stmt.safe
    if not plain or stmt.before not in ctx.blank or stmt.before not in ctx.lazy:
        return None
    pairs: list[Py] = []
    for dim, extent in zip(dims, extents, strict=True):
        if not isinstance(dim, Range) or not dim.start.same(Linear()) or dim.step != 1 or dim.backward:
            return None
        pairs.append(py.Tup((py.number(0), _behind(ctx, dim, extent))))
    return pairs[0] if len(pairs) == 1 else py.Tup(tuple(pairs))


def is_there(ctx: Context, stmt: eq.Write) -> bool:
    """Whether a store puts zeros into an array of zeros: the array that is made is what it leaves, then."""
    value = stmt.value.value if isinstance(stmt.value, eq.Const) else None
    zero = isinstance(value, int | float) and value == 0 and math.copysign(1, value) > 0
    if not zero or stmt.accumulate or stmt.before not in ctx.blank or stmt.before not in ctx.lazy:
        return False
    ctx.lazy[stmt.after] = ctx.lazy[stmt.before]
    ctx.blank.add(stmt.after)
    return True


def _behind(ctx: Context, dim: Range, extent: Linear) -> Py:
    gap = extent - dim.stop
    if not gap.terms:
        return py.number(max(gap.constant, 0))
    if ctx.never_negative(dim.stop):
        return ctx.static(gap)
    return py.Bin("-", ctx.static(extent), ctx.at_least_zero(dim.stop))


__all__ = ["is_there", "widths"]
