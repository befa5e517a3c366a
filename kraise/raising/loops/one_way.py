"""Numbers that a loop only moves one way: what they began with bounds them, and what ends the loop does.

``while (j >= 0 && a[j] > v) { a[j + 1] = a[j]; j--; }`` begins with j = k - 1, so that j <= k - 1 in every round and
-1 <= j behind it: with that neither a row ``a[i * n + j + 1]`` nor the cell that is left for v is left by a lane. The
side conditions: every assignment to the number in the loop adds a constant to it, and all of these have one sign (a
counter is never below its start); for what is behind the loop a round moves it once. (A signed number that passes the
end of its type has no value in C.)
"""

from __future__ import annotations

from collections.abc import Mapping

from kraise.analysis.conditions import classify, conjuncts
from kraise.analysis.dependence import nonnegative
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL
from kraise.ir.walk import topological
from kraise.raising.loops.counted import step_of
from kraise.raising.loops.ranges import Range
from kraise.raising.run.arithmetic import index_like
from kraise.raising.run.state import State

_Step = tuple[int | None, bool]  # by how much, and whether in a loop of its own


def since_start(
    st: State,
    s: k.For | k.While,
    carries: Mapping[str, eq.CarryIn],
    inits: Mapping[str, eq.Expr],
    rng: Range | None,
) -> tuple[eq.Expr, ...]:
    """What the numbers that a loop carries began with says of them."""
    out: list[eq.Expr] = []
    for n, c in carries.items():
        if not _is_int(c) or not _is_number(inits[n]):
            continue
        steps = _steps(s.body, n)
        if way := _way(steps):
            out.append(eq.Op("ge" if way > 0 else "le", (c, inits[n]), BOOL))
            if rng is not None and abs(rng.step) == 1 and (by := _once(steps)):  # no further than by one step a round
                far = to_poly(inits[n]) + (to_poly(rng.index) - to_poly(rng.start)) * (by * rng.step)
                out.append(eq.Op("le" if way > 0 else "ge", (c, to_expr(far)), BOOL))
        elif isinstance(s, k.For) and rng is not None and rng.step == 1 and steps and _marks(s.body, n, s.var):
            known, first = (*st.path, *st.facts, *rng.conjuncts()), to_poly(inits[n])
            if nonnegative(known, to_poly(rng.start) - first):  # one of the rounds' own numbers, or the first
                out.append(eq.Op("ge", (c, inits[n]), BOOL))
            if nonnegative(known, to_poly(rng.stop) - first - 1):
                out.append(eq.Op("lt", (c, rng.stop), BOOL))
    return tuple(out)


def _marks(body: tuple[k.Stmt, ...], name: str, var: str) -> bool:
    """Whether all that a loop ever assigns to a number is the number of a round."""
    for s in body:
        match s:
            case k.Assign(name=n, value=value) if n == name:
                if not (isinstance(value, k.Var) and value.name == var):
                    return False
            case k.Assign(name=n) | k.Atomic(result=n) | k.For(var=n) if n in (name, var):
                return False
            case k.CallStmt(results=names) if name in names or var in names:
                return False
        for inner in (getattr(s, "body", ()), getattr(s, "orelse", ())):
            if not _marks(inner, name, var):
                return False
    return True


def behind(
    st: State,
    body: tuple[k.Stmt, ...],
    condition: eq.Expr | None,
    carries: Mapping[str, eq.CarryIn],
    inits: Mapping[str, eq.Expr],
    rng: Range | None = None,
) -> tuple[eq.Expr, ...]:
    """What is known of such numbers behind the loop that ``condition`` keeps going, or that goes through a range."""
    out: list[eq.Expr] = []
    for n, c in carries.items():
        result, steps = st.env.get(n), _steps(body, n)
        by, way = _once(steps), _way(steps)
        if not isinstance(result, eq.FoldResult) or not _is_int(c) or not by:
            continue
        first = to_poly(inits[n])
        ends = [(way, first)] if _is_number(inits[n]) else []  # from the start on, and to where the loop ends
        if rng is not None and abs(rng.step) == 1 and index_like(inits[n]):
            rounds = (to_poly(rng.stop) - to_poly(rng.start)) * rng.step
            if nonnegative((*st.path, *st.facts), rounds):
                ends.append((-way, first + rounds * by))
        for fact in map(classify, conjuncts(condition)) if condition is not None else ():
            if fact is None or fact.kind != "ge" or fact.poly.coefficient(c).value != -way:
                continue
            rest = fact.poly.without(c)
            if any(isinstance(x, eq.CarryIn | eq.Read) for x in topological((to_expr(rest),))):
                continue
            last = (rest * way) + Poly({(): by})
            if nonnegative((*st.path, *st.facts), (last - first) * way):
                ends.append((-way, last))
        out += [eq.Op("ge" if side > 0 else "le", (result, to_expr(end)), BOOL) for side, end in ends]
    return tuple(out)


def _is_number(e: eq.Expr) -> bool:
    """An index, or what another loop carries or leaves."""
    return index_like(e) or (isinstance(e, eq.CarryIn | eq.FoldResult) and _is_int(e))


def _is_int(c: eq.Expr) -> bool:
    return c.type.kind == "int" and (c.type.bits or 64) >= 32


def _way(steps: list[_Step]) -> int:
    """1 for a number that only goes up, -1 for one that only goes down, 0 for any other."""
    known = [by for by, _ in steps if by is not None]
    if len(known) < len(steps) or not any(known):
        return 0
    return 1 if min(known) >= 0 else -1 if max(known) <= 0 else 0


def _once(steps: list[_Step]) -> int:
    """By how much a round moves a number that it moves once at the most, 0 if that is not known."""
    return 0 if len(steps) != 1 or steps[0][1] else steps[0][0] or 0


def _steps(body: tuple[k.Stmt, ...], name: str, inner: bool = False) -> list[_Step]:
    """By how much each assignment moves a number (None for one that does more), and if it is in a loop of its own."""
    out: list[_Step] = []
    for s in body:
        match s:
            case k.Assign(name=n, value=value) if n == name:
                match step_of(value, name):
                    case k.Const(value=by) if type(by) is int:
                        out.append((by, inner))
                    case _:
                        out.append((None, inner))
            case k.Atomic(result=n) | k.For(var=n) if n == name:
                out.append((None, inner))
            case k.CallStmt(results=names) if name in names:
                out.append((None, inner))
        for part in (getattr(s, "body", ()), getattr(s, "orelse", ())):
            out += _steps(part, name, inner or isinstance(s, k.For | k.While))
    return out


__all__ = ["behind", "since_start"]
