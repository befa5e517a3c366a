"""Counters that are never negative: they start at zero or above, and the rounds of a loop only add such numbers.

``if (near) { if (count < most) list[i * most + count] = j; count++; }`` keeps to row i. Where the sum would pass the
end of its type, C defines nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT
from kraise.raising.collective.opened import walked
from kraise.raising.loops.counted import step_of


def never_negative(
    body: tuple[k.Stmt, ...], carries: Mapping[str, eq.CarryIn], inits: Mapping[str, eq.Expr]
) -> tuple[eq.Expr, ...]:
    """That those among the ``carries`` are not."""
    steps: dict[str, list[k.Expr | None]] = {}
    for s in walked(body):
        match s:
            case k.Assign(name=name, value=value):
                steps.setdefault(name, []).append(step_of(value, name))
            case k.For(var=name) | k.Atomic(result=name):
                steps.setdefault(name, []).append(None)
            case k.CallStmt(results=names):
                for name in names:
                    steps.setdefault(name, []).append(None)
    return tuple(
        eq.Op("ge", (c, eq.Const(0, INT)), BOOL)
        for name, c in carries.items()
        if c.type.kind == "int"
        and (c.type.bits or 32) >= 32
        and _natural(inits.get(name))
        and all(map(_natural, steps.get(name, [])))
    )


def _natural(e: k.Expr | eq.Expr | None) -> bool:
    return isinstance(e, k.Const | eq.Const) and isinstance(e.value, int) and e.value >= 0


__all__ = ["never_negative"]
