"""Library calls of hosts with numbers that are known: ``1 * x`` is ``x``, and what is 0 times an array is left out.

``0 * y`` is cuBLAS's own rule: where beta is 0, y is not read (a beta that is known only when the function runs is
``scaled``).
"""

from __future__ import annotations

from dataclasses import replace

from kraise.ir import host as h
from kraise.ir import kernel as k


def folded(e: h.Library) -> h.Library | h.Expr:
    """The call with its known numbers put in; it keeps its element type."""
    found = _folded(e)
    return replace(found, type=e.type) if isinstance(found, h.Library) else found


def _folded(e: h.Library) -> h.Library | h.Expr:
    match e.name, e.args:
        case "times", (a, b):
            return next((y for x, y in ((a, b), (b, a)) if _is(x, 1)), e)
        case "scaled", (k.Const(value=number) as factor, a):
            if number == 1:
                return a
            return replace(e, name="times", args=(factor, a), jnp="{0} * {1}", derivative="d{0} * {1} + {0} * d{1}")
        case "plus" | "minus", (a, b) if _is_zero(b):
            return a
        case "plus", (h.Library(name="times", args=(factor, a)), b) if _is(factor, -1):
            return _difference(e, b, a)
        case "plus", (a, b) if _is_zero(a):
            return b
    return e


def _difference(e: h.Library, a: h.Expr, b: h.Expr) -> h.Library:
    """The row ``minus`` in the place of a sum."""
    return replace(e, name="minus", args=(a, b), jnp="{0} - {1}", derivative="d{0} - d{1}")


def _is(e: h.Expr, number: int) -> bool:
    return isinstance(e, k.Const) and e.value == number


def _is_zero(e: h.Expr) -> bool:
    """Is a summand nothing: 0, or 0 times an array?"""
    return _is(e, 0) or (isinstance(e, h.Library) and e.name == "times" and any(_is(a, 0) for a in e.args))
