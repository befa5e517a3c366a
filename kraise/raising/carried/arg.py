"""Which index: ``if e < best: best, arg = e, j``, and the last index at which something holds."""

from __future__ import annotations

from collections.abc import Iterator

from kraise.analysis.conditions import conjunction, conjuncts
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices
from kraise.raising.carried.first_term import same
from kraise.raising.carried.flag import sets
from kraise.raising.carried.problem import Declined, Problem, Solved
from kraise.raising.carried.reduction import _absorbed, combined
from kraise.raising.carried.tie_tests import untied
from kraise.raising.run import simplify
from kraise.raising.writes.accumulate import holds, replacement


def taken(update: eq.Expr, c: eq.Expr) -> tuple[eq.Expr, eq.Expr] | None:
    """``(condition, value)`` if the update is ``value if condition else c``."""
    match update:
        case eq.Op(name="select", args=(condition, a, b)) if b is c and not holds(a, c):
            return condition, a
        case eq.Op(name="select", args=(condition, a, b)) if a is c and not holds(b, c):
            return simplify.negation(condition), b
    return None


def _replaced(update: eq.Expr, c: eq.Expr) -> tuple[eq.Expr, eq.Expr] | None:
    """``(condition, value)`` if the update is ``value`` under a condition, by whatever branches, else c."""
    if update is c:
        return simplify.FALSE, c
    if not holds(update, c):
        return simplify.TRUE, update
    match update:
        case eq.Op(name="select", args=(condition, a, b)) if not holds(condition, c):
            one, two = _replaced(a, c), _replaced(b, c)
            if one is None or two is None:
                return None
            if one[1] is c or two[1] is c:
                test = condition if two[1] is c else simplify.negation(condition)
                inner, value = one if two[1] is c else two
                return simplify.conjunction(test, inner), value
            either = simplify.disjunction(simplify.conjunction(condition, one[0]), two[0])
            if one[0] is not simplify.TRUE:
                other = simplify.conjunction(simplify.negation(condition), two[0])
                either = simplify.disjunction(simplify.conjunction(condition, one[0]), other)
            return either, simplify.select(condition, one[1], two[1], update.type)
    return None


def _extremum(update: eq.Expr, c: eq.Expr) -> tuple[str, eq.Expr] | None:
    """``("min", e)`` if the update is ``min(c, e)``: what a loop over the columns leaves of a row."""
    match update:
        case eq.Op(name="min" | "max" as op, args=(a, b)) if (a is c) != (b is c):
            e = b if a is c else a
            return None if holds(e, c) else (op, e)
    return None


def _replaced_scalars(p: Problem, name: str) -> Iterator[tuple[str, eq.Expr, eq.Expr]]:
    """The other scalars that are replaced under a condition: the name, the condition, the value."""
    for other in p.pending:
        found = taken(p.updates[other], p.carries[other]) if other != name and other in p.carries else None
        if found is not None:
            yield other, *found


def arg_reduction(p: Problem, name: str) -> Solved | Declined:
    """The extremum of e together with all scalars that are replaced under the same condition."""
    c = p.carries[name]
    own = taken(p.updates[name], c)
    with_it: dict[str, eq.Expr] = {}
    if own is not None:
        condition, e = own
        found = replacement(untied(p, name, condition, e), c, e)
        if found is None:
            return Declined(f"{name} is not replaced by what it is compared with")
        for other, test, v in _replaced_scalars(p, name):
            if test is condition:
                with_it[other] = v
    else:
        row = _extremum(p.updates[name], c)
        if row is None:
            return Declined(f"{name} is not replaced under a condition")
        op, e = row
        found = None
        for other, test, v in _replaced_scalars(p, name):
            how = replacement(test, c, e)
            if how is not None and how.op == op and how.where is None and (found is None or found == how):
                found, with_it[other] = how, v
        if found is None:
            return Declined(f"no other scalar is replaced together with {name}")
    if not with_it:
        return Declined(f"no other scalar is replaced together with {name}")
    group = (name, *with_it)
    if any(p.used_in(n, besides=group) for n in group):
        return Declined(f"the running value of {name} is used in the loop")
    parts = [e, *with_it.values(), *([found.where] if found.where is not None else [])]
    if not all(p.free_of_pending(x) for x in parts):
        return Declined(f"what {name} is compared with depends on another carried value")
    backwards = p.step < 0
    last = (not found.strict) != backwards
    extremum = p.reduce(found.op, e, found.where)
    axis, left = p.domain(found.where)
    where_is = eq.ArgReduce(found.op, axis, e, left, last, INT)
    init = p.inits[name]
    final: dict[str, eq.Expr] = {}
    absorbed = (
        _absorbed(p, found.op, e, init, extremum) if found.where is None and isinstance(extremum, eq.Reduce) else None
    )
    if absorbed is not None:
        wide = eq.ArgReduce(found.op, absorbed.axes[0], e, None, last, INT)
        first = absorbed.axes[0].lo
        if all(same(p.at(f, first), p.inits[n]) for n, f in with_it.items()):
            final[name] = absorbed
            final |= {n: p.at(f, wide) for n, f in with_it.items()}
            return Solved(final, form=f"an arg-reduction ({found.op})")
    final[name] = combined(found.op, init, extremum, p.updates[name])
    compare = {("min", True): "lt", ("min", False): "le", ("max", True): "gt", ("max", False): "ge"}
    better = simplify.op(compare[found.op, found.strict], (extremum, init), BOOL)
    for n, f in with_it.items():
        chosen = p.at(f, where_is)
        if p.inits[n] is p.at(f, axis.lo) and _neutral(init, found.op) and left is None and not last:
            final[n] = chosen
        else:
            final[n] = simplify.select(better, chosen, p.inits[n], chosen.type)
    return Solved(final, form=f"an arg-reduction ({found.op})")


def _neutral(init: eq.Expr, op: str) -> bool:
    return isinstance(init, eq.Const) and init.value == (float("inf") if op == "min" else float("-inf"))


def last_match(p: Problem, name: str) -> Solved | Declined:
    """``if cond: v = f(j)``: the value of the last round in which the condition holds."""
    c = p.carries[name]
    own = _replaced(p.updates[name], c)
    if own is None:
        return Declined(f"{name} is not replaced under a condition")
    condition, v = own
    if p.used_in(name) or not p.free_of_pending(condition) or not p.free_of_pending(v):
        return Declined(f"{name} depends on a carried value")
    condition, first = p.until(condition)
    if first is None:
        any_round = p.reduce("or", condition, None)
    elif p.domain(None)[1] is None:
        any_round = p.any(condition)
    else:
        any_round, first = _earliest(p, condition)
    if first is None and isinstance(any_round, eq.Reduce) and isinstance(any_round.body, eq.Op):
        any_round = p.reduce("or", eq.Const(True, BOOL), condition)
        if isinstance(any_round, eq.Reduce) and any_round.where is not None:
            any_round = eq.Reduce("or", any_round.axes, any_round.where, None, BOOL)
        elif isinstance(any_round, eq.Reduce):
            axis = any_round.axes[0]
            any_round = simplify.op("lt", (axis.lo, axis.hi), BOOL)
    if v is p.index and first is None and _comes_before(p, p.inits[name]):
        furthest = p.reduce("max" if p.step > 0 else "min", p.index, condition)
        if isinstance(furthest, eq.Reduce):
            return Solved({name: eq.Op(furthest.op, (p.inits[name], furthest), INT)}, form="the last match")
    if p.index.name in free_indices(v):
        which = p.reduce("max" if p.step > 0 else "min", p.index, condition) if first is None else first
        safe = simplify.select(any_round, which, p.start, INT)
        v = p.at(v, safe)
    return Solved({name: simplify.select(any_round, v, p.inits[name], v.type)}, form="the last match")


def _comes_before(p: Problem, init: eq.Expr) -> bool:
    """Whether a number is no later than the loop's first index: the last match is the extremum of both."""
    match init, p.start:
        case eq.Const(value=int(number)), eq.Const(value=int(first)):
            return number <= first if p.step > 0 else number >= first
    return False


def first_match(p: Problem, name: str) -> Solved | Declined:
    """``if not found and cond: v, found = f(j), True`` (what a break leaves): the first round in which the condition
    holds."""
    c = p.carries[name]
    own = _replaced(p.updates[name], c)
    if own is None:
        return Declined(f"{name} is not replaced under a condition")
    condition, v = own
    parts = conjuncts(condition)
    for flag, node in p.carries.items():
        unset = simplify.negation(node)
        first_flag = p.inits[flag]
        if flag == name or unset not in parts or not isinstance(first_flag, eq.Const) or first_flag.value:
            continue
        rest = conjunction([x for x in parts if x is not unset])
        if rest is None or flag not in p.updates or sets(p.updates[flag], node) is not rest:
            continue
        if p.used_in(name) or not p.free_of_pending(rest) or not p.free_of_pending(v):
            continue
        axis, left = p.domain(None)
        found, first = _earliest(p, rest)
        if left is None:
            found, first = p.reduce("or", rest, None), eq.ArgReduce("max", axis, rest, None, p.step < 0, INT)
        value = p.at(v, first) if p.index.name in free_indices(v) else v
        return Solved({name: simplify.select(found, value, p.inits[name], value.type)}, form="the first match")
    return Declined(f"{name} is not set where a condition holds first")


def _earliest(p: Problem, condition: eq.Expr) -> tuple[eq.Expr, eq.Expr]:
    """Whether there is a round with the condition, and the first one; it lies beyond the range if there is none."""
    first = p.reduce("min" if p.step > 0 else "max", p.index, condition)
    return simplify.op("lt" if p.step > 0 else "gt", (first, p.stop), BOOL), first
