"""Stores to rows that are numbered by several indices: ``col[9 * c + 3 * a + b, h, w]`` is ``col[c, a, b, h, w]``.

A flat array that is seen as rows is seen with an axis for each digit of the row's number: the store is one of the whole
view, and no index array is made. The side conditions: each digit runs over all of its radix, and so does the first.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.emit.text.linear import Linear, linear
from kraise.ir import equations as eq
from kraise.ir.types import INT


def apart(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such stores to views of more axes."""
    return replace(kernel, body=tuple(map(_apart, kernel.body)))


def _apart(s: eq.Stmt) -> eq.Stmt:
    match s:
        case eq.Fold():
            return replace(s, body=tuple(map(_apart, s.body)))
        case eq.Write() if len(s.view) == len(s.subscripts) and not s.segments:
            for at, (subscript, extent) in enumerate(zip(s.subscripts, s.view, strict=True)):
                order = _digits(subscript, extent, s.axes)
                if order is not None:
                    own: tuple[eq.Expr, ...] = tuple(eq.Index(a.name, INT) for a in order)
                    subscripts = (*s.subscripts[:at], *own, *s.subscripts[at + 1 :])
                    sizes = tuple(a.hi for a in order)
                    return _apart(replace(s, subscripts=subscripts, view=(*s.view[:at], *sizes, *s.view[at + 1 :])))
    return s


def _digits(subscript: eq.Expr, extent: eq.Expr, axes: tuple[eq.Axis, ...]) -> list[eq.Axis] | None:
    """The axes in the order of their factors, where these make up all numbers below the extent."""
    form, ranges = linear(subscript), {a.name: a for a in axes}
    if form.constant or len(form.terms) < 2:
        return None
    digits: list[tuple[int, eq.Axis]] = []
    for atom, factor in form.terms:
        axis = ranges.get(atom.name) if isinstance(atom, eq.Index) else None
        if axis is None or axis.step != 1 or not linear(axis.lo).same(Linear()):
            return None
        digits.append((factor, axis))
    digits.sort(key=lambda d: -d[0])
    below = 1
    for factor, axis in digits[:0:-1]:
        size = linear(axis.hi)
        if factor != below or size.terms or size.constant < 1:
            return None
        below *= size.constant
    factor, first = digits[0]
    return [a for _, a in digits] if factor == below and linear(first.hi).times(factor).same(linear(extent)) else None


__all__ = ["apart"]
