"""Stores to rows that are numbered by several indices: ``col[9 * c + 3 * a + b, h, w]`` is ``col[c, a, b, h, w]``.

A flat array that is seen as rows is seen with an axis for each digit of the row's number, or of the column's
(``y[r, 32 * b + t - 8]`` with 8 <= t < 40): the store is one of the whole view, and no index array is made. (Measured
on rows filtered by tiles: a quarter of the time.) The side conditions: each digit runs over all of its radix, and so
does the first.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.emit.loads.views import expression
from kraise.emit.text.linear import linear
from kraise.emit.text.tiles import whole
from kraise.ir import equations as eq
from kraise.ir.types import INT


def apart(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such stores to views of more axes."""
    return replace(kernel, body=tuple(_apart(kernel, s) for s in kernel.body))


def _apart(kernel: eq.Kernel, s: eq.Stmt) -> eq.Stmt:
    match s:
        case eq.Fold():
            return replace(s, body=tuple(_apart(kernel, inner) for inner in s.body))
        case eq.Write() if len(s.view) == len(s.subscripts) and not s.segments:
            for at, (subscript, extent) in enumerate(zip(s.subscripts, s.view, strict=True)):
                order = _digits(kernel, subscript, extent, s.axes)
                if order is not None:
                    subscripts = (*s.subscripts[:at], *map(_from_zero, order), *s.subscripts[at + 1 :])
                    view = (*s.view[:at], *map(_size, order), *s.view[at + 1 :])
                    return _apart(kernel, replace(s, subscripts=subscripts, view=view))
    return s


def _from_zero(axis: eq.Axis) -> eq.Expr:
    return expression(linear(eq.Index(axis.name, INT)) - linear(axis.lo))


def _size(axis: eq.Axis) -> eq.Expr:
    return expression(linear(axis.hi) - linear(axis.lo))


def _digits(kernel: eq.Kernel, subscript: eq.Expr, extent: eq.Expr, axes: tuple[eq.Axis, ...]) -> list[eq.Axis] | None:
    """The axes in the order of their factors, where these make up all numbers below the extent."""
    form, ranges = linear(subscript), {a.name: a for a in axes}
    if len(form.terms) < 2:
        return None
    digits: list[tuple[int, eq.Axis]] = []
    for atom, factor in form.terms:
        axis = ranges.get(atom.name) if isinstance(atom, eq.Index) else None
        if axis is None or axis.step != 1:
            return None
        form += linear(axis.lo).times(factor)  # how much of the number is there at the first of all
        digits.append((factor, axis))
    if not form.same(linear(subscript) + -linear(subscript).constant):
        return None
    digits.sort(key=lambda d: -d[0])
    below = 1
    for factor, axis in digits[:0:-1]:
        size = linear(axis.hi) - linear(axis.lo)
        if factor != below or size.terms or size.constant < 1:
            return None
        below *= size.constant
    factor, first = digits[0]
    size = whole(kernel, (linear(first.hi) - linear(first.lo)).times(factor))
    return [a for _, a in digits] if factor == below and size.same(linear(extent)) else None


__all__ = ["apart"]
