"""Digits of a flat subscript that a loop carries or leaves: ``a[i * n + j + 1]`` with ``while (j >= 0 && …) j--``.

What bounds a number that a loop carries (its condition, and what it began with: :mod:`kraise.raising.loops.one_way`)
bounds it in a row as it bounds an index: the subscript is taken apart with an index in its place. So is one with the
place of an extremum in it (``a[i * n + best]``), and one whose index goes on from such a number.
"""

from __future__ import annotations

from kraise.analysis.delinearize import Digits, digits
from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import substitute, topological
from kraise.raising.run.arithmetic import index_like


def with_carried(s: eq.Expr, known: tuple[eq.Expr, ...]) -> tuple[tuple[eq.Expr, ...], Digits] | None:
    """The digits of a subscript, as expressions, and the numbers that they are digits of; None where it holds nothing
    carried, or is not proved to have some."""
    inside = [n for n in topological((s,)) if isinstance(n, eq.Index | eq.CarryIn | eq.FoldResult) or _is_place(n)]
    bounds = [c for c in known if isinstance(c, eq.Op) and any(x in c.args for x in inside)]
    held = [x for c in bounds for x in c.args if isinstance(x, eq.CarryIn | eq.FoldResult)]
    carried = [n for n in dict.fromkeys((*inside, *held)) if not isinstance(n, eq.Index)]
    if not carried or any(n.type.kind != "int" or (n.type.bits or 64) < 32 for n in carried):
        return None
    numbers: dict[eq.Expr, eq.Expr] = {n: eq.Index(f"carried'{at}", INT) for at, n in enumerate(carried)}
    at = substitute(s, numbers)
    if not index_like(at):
        return None
    own = [(numbers[n], n.axis) for n in carried if isinstance(n, eq.ArgReduce)]
    ends = tuple(c for i, a in own for c in (eq.Op("ge", (i, a.lo), BOOL), eq.Op("lt", (i, a.hi), BOOL)))
    found = digits(to_poly(at), (*(substitute(c, numbers) for c in known), *ends))
    if found is None or any(n in topological((to_expr(r),)) for r in found.radices for n in numbers.values()):
        return None
    back = {index: n for n, index in numbers.items()}
    return tuple(substitute(to_expr(p), back) for p in found.subscripts), found


def _is_place(e: eq.Expr) -> bool:
    """The place of an extremum, which is one of those that are looked at."""
    return isinstance(e, eq.ArgReduce) and e.op in ("min", "max")


__all__ = ["with_carried"]
