"""Atomic extrema of floats by their bits as signed integers: those of the floats, where the new value is not negative.

The bits of floats (IEEE 754) are in order where they are positive, and below those of all positive ones where negative:
of an old value and one that is not negative the greater (smaller) integer is the greater (smaller) float.
"""

from __future__ import annotations

from kraise.diagnostics import Span, refuse
from kraise.ir import equations as eq
from kraise.raising.gradients.intervals import interval


def of_floats(name: str, amount: eq.Expr, path: tuple[eq.Expr, ...], span: Span | None) -> str:
    """The extremum that ``min_bits`` or ``max_bits`` of ``amount`` is, under the conditions of ``path``.

    Raises:
        Refused: KR299, the value may be negative.
    """
    name = name.removesuffix("_bits")
    if interval(amount)[0] >= 0 or any(_not_below_zero(amount, c) for c in path):
        return name
    raise refuse("KR299", f"an atomic {name} on the bits of another type is not raised", span, _HINT)


def _not_below_zero(v: eq.Expr, condition: eq.Expr) -> bool:
    match condition:
        case eq.Op(name="ge" | "gt", args=(a, b)) | eq.Op(name="le" | "lt", args=(b, a)):
            return a is v and interval(b)[0] >= 0
    return False


_HINT = (
    "as signed integers, floats are in order where the new value is not negative, and nothing says so here (fabsf, "
    "fmaxf(v, 0), a start at 0 would); for any value: v >= 0 ? atomicMax((int *)p, __float_as_int(v)) : "
    "atomicMin((unsigned *)p, __float_as_uint(v))"
)


__all__ = ["of_floats"]
