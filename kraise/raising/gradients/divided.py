"""A quotient that a condition chooses instead of its dividend is one quotient: ``x / n if n > eps else x`` is ``x /
(n if n > eps else 1)``.

Equal to the bit (``x / 1`` is x), one choice where there is one divisor for several values, and a root in it is made
safe by the choice that is there already: where its operand is one, so is the root (:func:`settled`), and nothing is
left to choose.
"""

from __future__ import annotations

from kraise.ir import equations as eq
from kraise.ir.walk import free_indices
from kraise.raising.gradients.hazards import CONSTANTS, constant_like, hazards
from kraise.raising.run import simplify


def one_quotient(node: eq.Expr) -> eq.Expr:
    """``node``, or the quotient that a choice between it and its dividend is."""
    match node:
        case eq.Op(name="select", args=(c, eq.Op(name="div", args=(x, n), type=t) as own, y), type=kind) if x == y:
            masked = bool(hazards(own)) and bool(free_indices(n))  # the divisor gets a mask of its own otherwise
            if masked and t == kind == x.type and (kind.is_inexact or kind.kind == "number"):
                return eq.Op("div", (x, simplify.select(c, n, constant_like(1, n.type), n.type)), kind)
    return node


def settled(node: eq.Expr) -> eq.Expr:
    """A choice whose other arm is what the value is there anyway, as the value: ``sqrt(x if c else 1) if c else 1``."""
    match node:
        case eq.Op(name="select", args=(c, value, eq.Const(value=int() | float() as other)), type=kind):
            if value.type == kind and isinstance(value, eq.Op) and _without(value, c, 8) == other:
                return value
    return node


def _without(value: eq.Expr, condition: eq.Expr, depth: int) -> float | None:
    """The constant that a value is wherever the condition does not hold, if it is one."""
    match value:
        case eq.Const(value=int() | float() as number):
            return float(number)
        case eq.Op(name="select", args=(c, _, other)) if c == condition and depth:
            return _without(other, condition, depth - 1)
        case eq.Op(name=name, args=args) if name in CONSTANTS and depth:
            known = [x for a in args if (x := _without(a, condition, depth - 1)) is not None]
            return CONSTANTS[name](*known) if len(known) == len(args) else None
    return None


__all__ = ["one_quotient", "settled"]
