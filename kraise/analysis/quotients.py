"""``(a / m) * m + a % m`` is ``a``: indices that were taken apart by hand and are put together again in a subscript."""

from __future__ import annotations

from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.order import by_text

_QUOTIENT = {"tmod": "tdiv", "mod": "floordiv"}


def recombined(subscript: eq.Expr) -> eq.Expr:
    """The subscript with each quotient that stands beside its remainder, times the divisor, as the dividend.

    The identity holds for C's and for Python's division. A quotient of a quotient is one by the product of both
    divisors where both truncate.
    """
    poly = to_poly(subscript)
    changed = False
    while (shorter := _once(poly)) is not None:
        poly, changed = shorter, True
    return to_expr(poly, subscript.type) if changed else subscript


def _once(poly: Poly) -> Poly | None:
    remainders = [a for a in poly.atoms() if isinstance(a, eq.Op) and a.name in _QUOTIENT]
    for r in sorted(remainders, key=by_text):
        dividend, divisor = r.args
        wanted = _flat(eq.Op(_QUOTIENT[r.name], (dividend, divisor), r.type))
        factor = poly.coefficient(r)
        multiple = factor * to_poly(divisor)
        for q in poly.atoms():
            alike = isinstance(q, eq.Op) and q.name == _QUOTIENT[r.name] and _flat(q) == wanted
            if alike and poly.coefficient(q) == multiple:
                return poly - Poly({(r,): 1}) * factor - Poly({(q,): 1}) * multiple + to_poly(dividend) * factor
    return None


def _flat(quotient: eq.Op) -> tuple[str, Poly, Poly]:
    """What is divided in the end, and by what in all."""
    base, divisor = quotient.args
    by = to_poly(divisor)
    while quotient.name == "tdiv" and isinstance(base, eq.Op) and base.name == "tdiv":
        by, base = by * to_poly(base.args[1]), base.args[0]
    return quotient.name, to_poly(base), by
