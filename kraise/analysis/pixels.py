"""Channels that lie beside each other: ``3 * (y * w + x) + c`` as element (y, x, c)."""

from __future__ import annotations

from kraise.analysis.delinearize import Digits, digits
from kraise.analysis.poly import Poly
from kraise.ir import equations as eq


def pixels(poly: Poly, path: tuple[eq.Expr, ...]) -> Digits | None:
    """``3 * (y * w + x) + c`` with c a number below 3, as element (y, x, c): channels that lie beside each other. The
    last pixel need not be whole where no access is to its last channel."""
    found = digits(poly, path, gaps=True)
    if found is None or len(found.radices) < 2:
        return None
    return found if found.subscripts[-1].value is not None and found.radices[-1].value is not None else None


__all__ = ["pixels"]
