"""A carried scalar that goes to and fro: ``sign = -sign``, ``side = 1 - side``, ``up = not up``."""

from __future__ import annotations

from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, substitute, topological
from kraise.raising.carried.affine import rounds_before
from kraise.raising.carried.problem import Declined, Problem, Solved
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import operation
from kraise.raising.writes.accumulate import holds


def alternation(p: Problem, name: str) -> Solved | Declined:
    """What it starts from in rounds of an even number, and the other value in the rest."""
    c, update, init = p.carries[name], p.updates[name], p.inits[name]
    other = _turned(update, c)
    if other is None:
        return Declined(f"{name} does not go to and fro")
    moving = p.index.name in free_indices(other) or any(holds(other, x) for x in p.carries.values())
    if moving or not p.free_of_pending(other) or any(p.changing(node) for node in topological((other,))):
        return Declined(f"what {name} turns round changes in the loop")
    end = operation("add", (p.last(), eq.Const(p.step, INT)), INT)
    rounds, total = rounds_before(p, p.index), rounds_before(p, end)
    if rounds is None or total is None:
        return Declined(f"the number of rounds before one is not affine for {name}")
    init = init if init.type == c.type or c.type.kind == "number" else simplify.cast(c.type, init)
    turned = substitute(update, {c: init})

    def after(count: eq.Expr) -> eq.Expr:
        even = eq.Op("eq", (operation("mod", (count, eq.Const(2, INT)), INT), eq.Const(0, INT)), BOOL)
        return simplify.select(even, init, turned, update.type)

    final = simplify.select(p.runs, after(total), init, update.type)
    return Solved({name: final}, {c: after(rounds)}, "a function of the index")


def _turned(update: eq.Expr, c: eq.Expr) -> eq.Expr | None:
    """The other operand of an operation that undoes itself (of ``-c`` and ``not c`` the value before them), or None."""
    match update:
        case eq.Op(name="neg" | "not" | "invert", args=(x,)) if x is c:
            return eq.Const(0, INT)
        case eq.Op(name="mul", args=(a, b)) if a is c or b is c:
            factor = b if a is c else a
            return factor if isinstance(factor, eq.Const) and factor.value == -1 else None
        case eq.Op(name="sub", args=(a, x)) if x is c and not holds(a, c):
            return a if update.type.is_integer else None  # of floats it is no more than nearly the same
        case eq.Op(name="xor", args=(a, b)) if (a is c) != (b is c):
            return b if a is c else a
    return None
