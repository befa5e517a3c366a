"""Running values that the loop uses in each round: prefix sums, products, extrema."""

from __future__ import annotations

from functools import lru_cache

from kraise.analysis.conditions import conjuncts
from kraise.analysis.segments import segments
from kraise.ir import equations as eq
from kraise.ir.open_types import kind_of
from kraise.ir.operations import ASSOCIATIVE
from kraise.ir.types import BOOL, FLOAT, INT, NUMBER, ScalarType
from kraise.ir.walk import free_indices
from kraise.raising.carried.affine import rounds_before
from kraise.raising.carried.first_term import from_start, previous, same, surely_runs
from kraise.raising.carried.problem import Declined, Problem, Solved
from kraise.raising.carried.reduction import combined, wraps
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import operation
from kraise.raising.writes.accumulate import contribution, holds, neutral_of

# measured on CPUs with 1 to 10,000 lanes and 100 to 1,000,000 rounds: associative_scan took 1.6 to 16 times as long,
# its gradient 0.9 to 5 times
STEADIER = (
    "lax.scan was 2 to 16 times faster than associative_scan on CPUs, and makes no products of many coefficients, "
    "which overflow"
)
# measured on a CPU, 100 rounds of 5,000 lanes: 8 times for values, 3 times for gradients
ONE_PASS = "one pass over the rounds is faster than all its running values laid down"


def _masked(op: str, value: eq.Expr, where: eq.Expr | None, like: eq.Expr) -> eq.Expr | None:
    if where is None:
        return value
    neutral = neutral_of(op, like)
    if neutral is None:
        if not value.type.is_inexact:
            return None
        neutral = _least(op, value)
    return simplify.select(where, value, neutral, value.type)


def scan(p: Problem, name: str) -> Solved | Declined:
    """``acc = acc op e`` where the running value is stored or used: a prefix scan."""
    c, update = p.carries[name], p.updates[name]
    how = contribution(update, c, kind_of(p.inits[name]))
    if (how is None or how.op not in ASSOCIATIVE) and _affine(update, c):
        return Declined(f"{name.strip('$')} is a linear recurrence: {STEADIER}")
    if how is None or how.value is None or how.op not in ASSOCIATIVE:
        return Declined(f"{name} is not a running sum, product or extremum")
    if wraps(c.type, how.op):
        return Declined(f"{name} is a narrow integer, which wraps")
    body = _masked(how.op, how.value, how.where, update)
    if body is None or not p.free_of_pending(body):
        return Declined(f"what is combined into {name} depends on another carried value")
    axis, left = p.domain(None)
    parts = () if left is None else conjuncts(left)
    if left is not None and abs(p.step) == 1 and len(parts) == 2 and any(s.whole for s in segments(parts)):
        return _in_rows(p, name, how.op, body, axis, left)
    if _only_combined(p, name, body):
        return Declined(f"{name.strip('$')} is only summed up along the loop, in each lane: {ONE_PASS}")
    if left is not None or abs(p.step) != 1:
        return Declined(f"the range of the running {name} differs from lane to lane")
    return _running(p, name, how.op, body, axis)


def _only_combined(p: Problem, name: str, body: eq.Expr) -> bool:
    """Whether a running float of many lanes is used in nothing but values that other scalars sum up."""
    c, update = p.carries[name], p.updates[name]
    inexact, along = update.type.is_inexact or update.type is NUMBER, free_indices(body)
    if not inexact or p.index.name not in along or not along & set(p.open):
        return False
    others = {n: u for n, u in p.updates.items() if n != name and (holds(u, c) or holds(u, update))}
    if not others or any(holds(e, x) for e in p.uses() for x in (c, update)):
        return False
    sums = [contribution(u, p.carries[n]) for n, u in others.items()]
    return all(how is not None and how.op in ASSOCIATIVE and how.value is not None for how in sums)


def _in_rows(p: Problem, name: str, op: str, body: eq.Expr, axis: eq.Axis, rows: eq.Expr) -> Solved:
    """The running value of each ragged row: it starts anew where the row does."""
    c, update, init = p.carries[name], p.updates[name], p.inits[name]
    anew = eq.Op("eq", (p.index, p.start), BOOL)
    after, entry = (
        eq.Scan(op, axis, body, init, inclusive, p.step < 0, update.type, anew) for inclusive in (True, False)
    )
    total = combined(op, init, eq.Reduce(op, (axis,), body, rows, update.type), update)
    return Solved({name: total}, {update: after, c: entry}, "a scan of each row")


def _running(p: Problem, name: str, op: str, body: eq.Expr, axis: eq.Axis) -> Solved:
    c, update, init = p.carries[name], p.updates[name], p.inits[name]
    kind = update.type
    if op == "add" and not free_indices(body) & {p.index.name} and (steps := rounds_before(p, p.index)) is not None:
        return _even_steps(p, name, body, steps, axis)
    after = _absorbed(p, op, axis, body, init, kind)
    after = after or eq.Scan(op, axis, body, _start(p, op, body, init), True, p.step < 0, kind)
    entry = eq.Scan(op, axis, body, init, False, p.step < 0, kind)
    total = combined(op, init, eq.Reduce(op, (axis,), body, None, kind), update)
    return Solved({name: total}, {update: after, c: entry}, "a scan")


def _even_steps(p: Problem, name: str, body: eq.Expr, steps: eq.Expr, axis: eq.Axis) -> Solved:
    """``t += h``: so many times h."""
    c, update, init = p.carries[name], p.updates[name], p.inits[name]

    def after(rounds: eq.Expr) -> eq.Expr:
        times = rounds if update.type is NUMBER else simplify.cast(update.type, rounds)
        moved = simplify.op("mul", (times, body), update.type)
        return moved if _zero(init) else simplify.op("add", (init, moved), update.type)

    total = combined("add", init, eq.Reduce("add", (axis,), body, None, update.type), update)
    one_more = operation("add", (steps, eq.Const(1, INT)), INT)
    return Solved({name: total}, {update: after(one_more), c: after(steps)}, "a function of the index")


def _zero(e: eq.Expr) -> bool:
    return isinstance(e, eq.Const) and str(e.value) in ("0", "0.0")


def _absorbed(p: Problem, op: str, axis: eq.Axis, body: eq.Expr, init: eq.Expr, kind: ScalarType) -> eq.Scan | None:
    """``s = x[0]; for k in range(1, n): s += x[k]`` is the scan from 0 on: init is the term before the first."""
    if not from_start(p, axis):
        return None
    before = previous(p)
    if not same(p.at(body, before), init) or not surely_runs(p, before, init, body):
        return None
    start = neutral_of(op, body) or _least(op, body)
    return eq.Scan(op, eq.Axis(axis.name, before, axis.hi), body, start, True, False, kind)


def _start(p: Problem, op: str, body: eq.Expr, init: eq.Expr) -> eq.Expr:
    """``init``, or a neutral element where it is the first term once more: ``m = x[0]; m = max(m, x[k])`` from 0 on."""
    if op not in ("min", "max") or not (body.type.is_inexact or body.type is NUMBER) or p.at(body, p.start) is not init:
        return init
    return _least(op, body)


def _least(op: str, like: eq.Expr) -> eq.Const:
    return eq.Const(float("inf") if op == "min" else float("-inf"), FLOAT if like.type is NUMBER else like.type)


@lru_cache(maxsize=1 << 12)  # expressions share parts
def _affine(update: eq.Expr, c: eq.Expr) -> bool:
    """Whether ``update`` is ``a * c + b`` with a and b free of c."""
    match update:
        case _ if update is c:
            return True
        case _ if not update.type.is_inexact and update.type.kind != "number":
            return False
        case eq.Op(name="add" | "sub", args=(x, y)):
            return all(not holds(e, c) or _affine(e, c) for e in (x, y)) and holds(update, c)
        case eq.Op(name="mul", args=(x, y)):
            return (not holds(y, c) and _affine(x, c)) or (not holds(x, c) and _affine(y, c))
        case eq.Op(name="div", args=(x, y)):
            return not holds(y, c) and _affine(x, c)
        case eq.Op(name="neg", args=(x,)) | eq.Cast(arg=x):
            return _affine(x, c)
        case eq.Op(name="fma", args=(x, y, z)):
            return _affine(eq.Op("add", (eq.Op("mul", (x, y), update.type), z), update.type), c)
    return False
