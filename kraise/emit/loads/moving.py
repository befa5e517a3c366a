"""Slices that begin where a loop's index says: ``jax.lax.dynamic_slice_in_dim(x, k, n)``, right whether the loop is
Python's own or one of the device."""

from __future__ import annotations

from collections.abc import Sequence

from kraise.emit.context import Context
from kraise.emit.loads.dims import Dim, Range
from kraise.emit.loads.views import expression
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.python import ALL, Py, Slice
from kraise.ir import equations as eq
from kraise.ir.types import INT


def moves(context: Context, dim: Dim) -> bool:
    """Whether a dimension is a slice whose place depends on such an index."""
    if not isinstance(dim, Range):
        return False
    return any(context.is_moving(name) for a, _ in dim.start.terms for name in context.free(a))


def sliced(context: Context, array: Py, dims: Sequence[Dim]) -> Py:
    """The array with the slices taken that move or run backward; ``dims`` are those that are left of it, one an
    axis."""
    moving = [(at, d) for at, d in enumerate(dims) if isinstance(d, Range) and (d.backward or moves(context, d))]
    starts: list[Py] = []
    sizes: list[Py] = []
    steps = [ALL] * len(dims)
    for at, d in moving:
        size = context.size(d.axis)
        assert size is not None
        starts.append(context.static(d.start))
        sizes.append(_reach(context, d, size))
        if d.step != 1 or d.backward:
            steps[at] = Slice(None, None, _step(context, d))
    if len(moving) == len(dims) > 1:
        array = py.call("jax.lax.dynamic_slice", array, py.Tup(tuple(starts)), py.Tup(tuple(sizes)))
    else:
        for (at, _), start, length in zip(moving, starts, sizes, strict=True):
            where = (py.number(at),) if at else ()
            array = py.call("jax.lax.dynamic_slice_in_dim", array, start, length, *where)
    while steps and steps[-1] == ALL:
        steps.pop()
    return py.Sub(array, tuple(steps)) if steps else array


def _reach(context: Context, d: Range, size: Linear) -> Py:
    """How many places the slice has before its step is taken."""
    if isinstance(d.step, int):
        return context.at_least_zero((size + -1).times(d.step) + 1)
    whole = linear(eq.Op("mul", (expression(size), d.step), INT))
    return context.at_least_zero(whole - linear(d.step) + 1)


def _step(context: Context, d: Range) -> Py:
    if isinstance(d.step, int):
        return py.number(-d.step if d.backward else d.step)
    return context.static(d.step)
