"""How a tree reduction in shared memory goes from round to round (see
:mod:`kraise.raising.memory.tree_reductions`)."""

from __future__ import annotations

from dataclasses import dataclass

from kraise.analysis.conditions import classify
from kraise.analysis.delinearize import provable
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices
from kraise.raising.run.arithmetic import operation

ONE, TWO = eq.Const(1, INT), eq.Const(2, INT)


@dataclass(frozen=True)
class Steps:
    """How w moves: ``down`` by halves from half of ``size``, or up by doubling to before ``size``. With ``up`` w is the
    number of cells that are left, half of which, rounded up, are left by a round: from ``size`` down to one."""

    down: bool
    size: Poly
    up: bool = False

    def gap(self, w: eq.Index) -> Poly:
        """How far the cell is that is combined with one."""
        return to_poly(w) - _half(w) if self.up else to_poly(w)

    def taking(self, w: eq.Index) -> Poly:
        """How many cells take another one's value in a round of halves."""
        return _half(w) if self.up else to_poly(w)

    def plain(self, poly: Poly, w: eq.Index) -> Poly:
        """``poly`` with ``w - w // 2`` for ``(w + 1) // 2``."""
        for atom in poly.atoms() if self.up else ():
            match atom:
                case eq.Op(name="floordiv" | "tdiv" | "shr" as name, args=(x, eq.Const(value=by))) if by == (
                    1 if name == "shr" else 2
                ):
                    if to_poly(x) == to_poly(w):
                        poly = poly.substitute(atom, _half(w))
                    elif to_poly(x) == to_poly(w) + 1:
                        poly = poly.substitute(atom, to_poly(w) - _half(w))
        return poly

    def within(self, w: eq.Index) -> tuple[eq.Expr, ...]:
        """How far w goes."""
        most = to_poly(w) if self.up else to_poly(w) * 2 if self.down else to_poly(w) + 1
        return (eq.Op("le", (to_expr(most), to_expr(self.size)), BOOL),)


def _half(w: eq.Index) -> Poly:
    return to_poly(eq.Op("floordiv", (w, TWO), INT))


def steps_of(
    path: tuple[eq.Expr, ...], first: eq.Expr, after: eq.Expr, condition: eq.Expr, w: eq.Index
) -> Steps | None:
    """How w moves from ``first`` while ``condition`` holds, or None if not by halves or doubling."""
    fact = classify(condition)
    if fact is None or free_indices(first):
        return None
    match after:
        case eq.Op(name="floordiv" | "tdiv" | "shr" as name, args=(x, eq.Const(value=c))) if x is w:
            if c != (1 if name == "shr" else 2):
                return None
            stops = (fact.kind == "ge" and fact.poly == to_poly(w) - 1) or (
                fact.kind == "ne" and fact.poly == to_poly(w)
            )
            size = _twice(first)
            return Steps(True, size) if stops and size is not None else None
        case eq.Op(name="shl", args=(x, eq.Const(value=1))) if x is w:
            pass
        case _:
            rounded = Steps(True, to_poly(first), up=True)
            if after.type.is_integer and rounded.plain(to_poly(after), w) == rounded.gap(w):
                more = fact.kind == "ge" and fact.poly == to_poly(w) - 2
                more = more or (fact.kind == "ne" and fact.poly in (to_poly(w) - 1, -to_poly(w) + 1))
                return rounded if more and provable(path, rounded.size - 1) else None
            if to_poly(after) != to_poly(operation("mul", (TWO, w), INT)):
                return None
    if to_poly(first).value != 1 or fact.kind != "ge":
        return None
    size = fact.poly + to_poly(w) + 1
    return None if w.name in size.indices() else Steps(False, size)


def _twice(first: eq.Expr) -> Poly | None:
    """The size of which ``first`` is half."""
    poly = to_poly(first)
    if poly.value is not None:
        return poly * 2
    match first:
        case eq.Op(name="floordiv" | "tdiv", args=(x, eq.Const(value=2))):
            return to_poly(x)
        case eq.Op(name="shr", args=(x, eq.Const(value=1))):
            return to_poly(x)
    return None


__all__ = ["Steps", "steps_of"]
