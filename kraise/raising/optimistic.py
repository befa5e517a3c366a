"""Rows that must not overlap: ``A[i * ld + j]`` with j < n is an array of rows only if n <= ld (contract, section 3).

Where a proof needs it, that is assumed and the run repeated; the emitted function checks it, because sizes are static,
and the docstring says so. (Grosser et al., Optimistic delinearization of parametrically sized arrays, ICS 2015.)
"""

from __future__ import annotations

from kraise.analysis.boxes import largest
from kraise.analysis.conditions import is_static
from kraise.analysis.delinearize import chain, divided, provable
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.diagnostics import Span, refuse
from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices

Path = tuple[eq.Expr, ...]
Check = tuple[eq.Expr, str]


def wanted(subscript: eq.Expr, path: Path) -> tuple[eq.Expr, ...]:
    """The conditions on sizes under which the digits of a flat subscript stay within their rows; () if there are
    none, or if no sizes meet them."""
    poly = to_poly(subscript)
    strides = chain(poly, path)
    if strides is None:
        return _steps(poly, path)
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


def _steps(poly: Poly, path: Path) -> tuple[eq.Expr, ...]:
    """That the step of a subscript is at least one (``x[i * incx]``): with none, all threads would have one cell."""
    moving = [m for m in poly.terms if any(free_indices(a) for a in m)]
    if len(moving) != 1:
        return ()
    steps = [a for a in moving[0] if isinstance(a, eq.Param) and a.type.is_integer]
    if len(moving[0]) != len(steps) + 1 or not isinstance(next(a for a in moving[0] if a not in steps), eq.Index):
        return ()
    one = eq.Const(1, INT)
    return tuple(eq.Op("ge", (a, one), BOOL) for a in steps if not provable(path, to_poly(a) - 1))


def message(condition: eq.Expr) -> str:
    """What the ValueError says where the condition does not hold."""
    steps = isinstance(condition, eq.Op) and condition.name == "ge"
    return f"{'cells' if steps else 'rows'} would overlap: {render_expr(condition)} must hold"


def open_checks(checks: tuple[Check, ...], span: Span | None) -> tuple[Check, ...]:
    """The checks that the sizes decide.

    Raises:
        Refused: KR299, one holds at no size: the emitted function would do nothing but raise.
    """
    out: list[Check] = []
    for condition, text in checks:
        known = _decided(condition)
        if known is False:
            raise refuse("KR299", f"no launch meets what the proof needs ({text})", span, "see the sizes in that line")
        if known is None:
            out.append((condition, text))
    return tuple(out)


def _decided(condition: eq.Expr) -> bool | None:
    """Whether a comparison of numbers holds; None for any other condition."""
    match condition:
        case eq.Op(name="le" | "lt" | "ge" | "gt" | "eq" as name, args=(a, b)):
            gap = (to_poly(b) - to_poly(a)).value
            if gap is None:
                return None
            return {"le": gap >= 0, "lt": gap > 0, "ge": gap <= 0, "gt": gap < 0, "eq": gap == 0}[name]
    return None


__all__ = ["message", "open_checks", "wanted"]
