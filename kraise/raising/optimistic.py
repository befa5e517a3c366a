"""Rows that must not overlap: ``A[i * ld + j]`` with j < n is an array of rows only if n <= ld (contract, section 3).

Where a proof needs it, that is assumed and the run repeated; the emitted function checks it, because sizes are
static, and the
docstring says so. (Grosser et al., Optimistic delinearization of parametrically sized arrays, ICS 2015.)
"""

from __future__ import annotations

from kraise.analysis.boxes import largest
from kraise.analysis.conditions import is_static
from kraise.analysis.delinearize import chain, divided, provable
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL

Path = tuple[eq.Expr, ...]


def wanted(subscript: eq.Expr, path: Path) -> tuple[eq.Expr, ...]:
    """The conditions on sizes under which the digits of a flat subscript stay within their rows; () if there are
    none, or if no sizes meet them."""
    poly = to_poly(subscript)
    strides = chain(poly)
    if strides is None:
        return ()
    out: list[eq.Expr] = []
    below = [above for above, _ in strides[1:]]
    rest = poly
    for at, (above, radix) in enumerate(strides):
        rest = divided(rest, above)[1]
        digit = divided(rest, below[at])[0] if at < len(below) else rest
        top = largest(digit, path)
        if top is None or not is_static(top) or not provable(path, digit):
            return ()
        slack = radix - 1 - top
        if slack.value is not None and slack.value < 0:
            return ()  # rows that overlap at every size
        if not provable(path, slack):
            out.append(eq.Op("le", (to_expr(top + 1), to_expr(radix)), BOOL))
    return tuple(out)


def message(condition: eq.Expr) -> str:
    """What the ValueError says where the condition does not hold."""
    return f"rows would overlap: {render_expr(condition)} must hold"


__all__ = ["message", "wanted"]
