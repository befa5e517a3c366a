"""Carried scalars that are functions of the loop's index: unchanged ones, and ``k += c``."""

from __future__ import annotations

from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT, ScalarType
from kraise.ir.walk import free_indices
from kraise.raising.carried.problem import Declined, Problem, Solved
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import index_like, operation
from kraise.raising.writes.accumulate import contribution, holds


def invariant(p: Problem, name: str) -> Solved | Declined:
    """The loop does not change it."""
    c = p.carries[name]
    if p.updates[name] is c:
        return Solved({name: p.inits[name]}, {c: p.inits[name]}, "unchanged")
    return Declined(f"{name} changes")


def induction(p: Problem, name: str) -> Solved | Declined:
    """``k = k + c`` in every round with an integer c that the loop does not change: ``init + round * c``."""
    c, init = p.carries[name], p.inits[name]
    how = contribution(p.updates[name], c)
    if how is None or how.op != "add" or how.where is not None or how.value is None:
        return Declined(f"{name} is not stepped by the same amount in every round")
    amount = how.value
    if not (amount.type.is_integer and init.type.is_integer):
        return Declined(f"{name} is not an integer")
    if c.type.bits is not None and c.type.bits < 32:
        return Declined(f"{name} is a narrow integer, which wraps")
    if p.index.name in free_indices(amount) or any(holds(amount, x) for x in p.carries.values()):
        return Declined(f"the step of {name} changes in the loop")
    rounds = rounds_before(p, p.index)
    if rounds is None:
        return Declined(f"the number of rounds before one is not affine for {name}")
    end = operation("add", (p.last(), eq.Const(p.step, INT)), INT)
    total = rounds_before(p, end)
    assert total is not None
    kind = c.type if c.type.kind == "uint" and c.type.bits and not index_like(init) else INT  # a generator's: it wraps
    closed, final = (
        operation("add", (init, operation("mul", (_typed(n, kind), amount), kind)), kind) for n in (rounds, total)
    )
    return Solved({name: simplify.select(p.runs, final, init, kind)}, {c: closed}, "a function of the index")


def _typed(rounds: eq.Expr, kind: ScalarType) -> eq.Expr:
    """A number of rounds in the type that it is multiplied in."""
    return rounds if kind == INT else simplify.cast(kind, rounds)


def rounds_before(p: Problem, index: eq.Expr) -> eq.Expr | None:
    """How many rounds come before the one with ``index``."""
    distance = to_poly(index) - to_poly(p.start)
    if abs(p.step) == 1:
        return to_expr(distance * p.step)
    if all(k % p.step == 0 for k in distance.terms.values()):
        from kraise.analysis.poly import Poly

        return to_expr(Poly({m: k // p.step for m, k in distance.terms.items()}))
    return simplify.op("floordiv", (to_expr(distance), eq.Const(p.step, INT)), INT)
