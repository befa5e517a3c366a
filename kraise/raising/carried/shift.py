"""What the round before made: ``y[k] = x[k] - before; before = x[k]``."""

from __future__ import annotations

from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import topological
from kraise.raising.carried.problem import Declined, Problem, Solved
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import operation
from kraise.raising.writes.accumulate import holds


def shift(p: Problem, name: str) -> Solved | Declined:
    """A scalar that every round makes anew and the next one uses: the same function of the index before."""
    c, update, init = p.carries[name], p.updates[name], p.inits[name]
    if holds(update, c) or not p.free_of_pending(update):
        return Declined(f"what {name} becomes depends on a carried value")
    if abs(p.step) != 1 or any(isinstance(n, eq.Scan | eq.CarryIn | eq.FoldResult) for n in topological((update,))):
        return Declined(f"what {name} was a round before is no function of the index")
    before = p.at(update, operation("sub", (p.index, eq.Const(p.step, INT)), INT))
    starts = eq.Op("eq", (p.index, p.start), BOOL)
    entry = simplify.select(starts, init, before, c.type)
    final = simplify.select(p.runs, p.at(update, p.last()), init, update.type)
    return Solved({name: final}, {c: entry}, "the value of the round before")
