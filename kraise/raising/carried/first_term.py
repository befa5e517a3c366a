"""Whether a running value begins with the term before the first round's: ``s = x[0]`` before rounds from 1 on."""

from __future__ import annotations

from kraise.analysis.conditions import always
from kraise.analysis.dependence import implied
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, topological
from kraise.raising.carried.problem import Problem
from kraise.raising.memory.edges import flat
from kraise.raising.run.arithmetic import operation


def from_start(p: Problem, axis: eq.Axis) -> bool:
    """Whether an axis runs from the first round on."""
    return axis.step == 1 == p.step and to_poly(axis.lo) == to_poly(p.start)


def previous(p: Problem) -> eq.Expr:
    """The index before the first round's."""
    return operation("sub", (p.start, eq.Const(1, INT)), INT)


def same(term: eq.Expr, init: eq.Expr) -> bool:
    """Whether two values are one, where one may see in rows the array that the other one sees flat."""
    match term, init:
        case eq.Const(value=a), eq.Const(value=b):
            return a == b and term.type.kind == init.type.kind
        case eq.Read(), eq.Read():
            parts = [(n.version, n.type, n.safe, n.outside, n.limit, flat(n)) for n in (term, init)]
            return parts[0] == parts[1]
        case (eq.Op(name=a, args=xs), eq.Op(name=b, args=ys)) if a == b and len(xs) == len(ys):
            return term.type == init.type and all(map(same, xs, ys))
        case eq.Cast(arg=a), eq.Cast(arg=b):
            return term.type == init.type and same(a, b)
    return term is init


def surely_runs(p: Problem, before: eq.Expr, init: eq.Expr, body: eq.Expr) -> bool:
    """Whether the range from ``before`` on has an element even if the loop has no round: if stop is the extent of an
    array of which init reads that very element, or greater for any sizes. That rows or columns which the rounds go
    through have a first element is checked where init reads it."""
    if always(to_poly(p.stop) - to_poly(before) - 1):
        return True
    loads = [n for n in topological((init,)) if isinstance(n, eq.Read) and not n.view]
    if isinstance(p.stop, eq.Shape) and any(
        n.version.array == p.stop.array
        and len(n.subscripts) > p.stop.axis
        and to_poly(n.subscripts[p.stop.axis]) == to_poly(before)
        for n in loads
    ):
        return True
    rows = (n for n in topological((body,)) if isinstance(n, eq.Read) and len(n.subscripts) > 1)
    through = to_poly(before) == to_poly(eq.Const(0, INT)) and any(p.index in n.subscripts for n in rows)
    if through and implied(p.path, eq.Op("ge", (p.stop, eq.Const(1, INT)), BOOL)):
        return True
    # a size that other sizes decide the use of need not be positive where it is not used
    return through and all(free_indices(c) for c in p.path) and p.demand(p.stop)


__all__ = ["from_start", "previous", "same", "surely_runs"]
