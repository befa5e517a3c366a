"""Indices that run in steps counted in ones, where a digit fills the steps: ``j + r`` with j in steps of 8 and r below
8 is ``8 * q + r``, two digits of one number (:mod:`.tiles`)."""

from __future__ import annotations

from collections.abc import Iterable

from kraise.analysis.conditions import classify
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import Unmovable, substitute


def in_ones(
    names: tuple[str, ...], path: tuple[eq.Expr, ...], values: tuple[eq.Expr, ...], facts: Iterable[eq.Expr]
) -> tuple[tuple[eq.Expr, ...], tuple[eq.Expr, ...]] | None:
    """``path`` and ``values`` with such indices, under their own names, in ones; None where there are none."""
    from kraise.raising.run.arithmetic import tidy

    below = {f.poly for c in (*path, *facts) if (f := classify(c)) is not None and f.kind == "ge"}
    moved: dict[eq.Expr, eq.Expr] = {}
    said: set[eq.Expr] = set()
    for c in path:
        match c:
            case eq.Op(
                name="eq",
                args=(eq.Op(name="mod", args=(eq.Index(name=q) as j, eq.Const(value=int() as by))), eq.Const(value=0)),
            ) if q in names and by > 1:
                digits = (to_poly(eq.Index(d, INT)) for d in names if d != q)
                if any(d in below and -d + (by - 1) in below for d in digits):
                    moved[j] = eq.Op("mul", (eq.Const(by, INT), j), INT)
                    said.add(c)
    if not moved:
        return None
    try:
        changed = [
            tuple(tidy(substitute(e, moved)) for e in part) for part in ((*(c for c in path if c not in said),), values)
        ]
    except (Unmovable, ValueError):  # a running value exists along the index only
        return None
    return changed[0], changed[1]


__all__ = ["in_ones"]
