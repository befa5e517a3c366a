"""``acc = acc op e`` with an associative op and e free of what is carried: a reduction over the loop."""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.conditions import conjuncts, negate
from kraise.analysis.dependence import impossible
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.open_types import in_floats, is_open, kind_of
from kraise.ir.operations import ASSOCIATIVE, BITWISE
from kraise.ir.types import FLOAT, INT, ScalarType
from kraise.ir.walk import Unmovable, topological
from kraise.raising.carried.arms import one_arm
from kraise.raising.carried.first_term import from_start, previous, same, surely_runs
from kraise.raising.carried.problem import Declined, Problem, Solved
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import operation
from kraise.raising.writes.accumulate import Contribution, contribution, neutral_of

_NEUTRAL = {"add": 0, "mul": 1, "and": True, "or": False, "or_": 0, "xor": 0, "and_": -1}
_SIZES = (eq.Const, eq.Param, eq.Shape, eq.Op, eq.Cast, eq.Index)


def reduction(p: Problem, name: str) -> Solved | Declined:
    """A sum, product, extremum, any or all. The running value must not be used within the loop."""
    how = contribution(p.updates[name], p.carries[name], kind_of(p.inits[name]))
    if how is None or how.value is None or how.op not in ASSOCIATIVE:
        return Declined(f"{name} is not combined with one value by one associative operator in each round")
    if how.where is not None:
        how = one_arm(how, (*p.path, *p.range))
    assert how.value is not None
    if p.used_in(name):
        return Declined(f"the running value of {name} is used in the loop")
    if not p.free_of_pending(how.value) or (how.where is not None and not p.free_of_pending(how.where)):
        return Declined(f"what is combined into {name} depends on another carried value")
    if wraps(p.carries[name].type, how.op):
        return Declined(f"{name} is a narrow integer, which wraps")
    sized = all(isinstance(n, _SIZES) for n in topological((p.start, p.stop)))
    if how.op in BITWISE and (how.value.type.is_inexact or not sized):
        return Declined(f"no segments are combined bit by bit, as {name} is")
    start, axis_start = p.inits[name], None
    if how.op == "add" and (several := _one_by_one(p, name)) is not None:
        return Solved({name: several}, form="reductions (add)")
    total = _flagged(p, how) or p.reduce(how.op, how.value, how.where)
    total = _of_floats(total, start)
    if how.where is None and isinstance(total, eq.Reduce):
        axis_start = _absorbed(p, how.op, how.value, start, total)
    final = axis_start or combined(how.op, start, total, p.updates[name])
    return Solved({name: final}, form=f"a reduction ({how.op})")


def _flagged(p: Problem, how: Contribution) -> eq.Expr | None:
    """Any, or all as not any. Where each round that says so leaves the loop, none need be the first."""
    if how.op not in ("or", "and") or how.value is None:
        return None
    if how.where is None:
        return p.any(how.value) if how.op == "or" else None
    leaves = how.value if how.op == "or" else simplify.negation(how.value)
    condition, first = p.until(simplify.conjunction(how.where, leaves))
    if first is None:
        return None
    if how.op == "or":
        return p.any(condition)
    direct = condition is leaves and not (isinstance(how.value, eq.Op) and how.value.name == "not")
    return p.reduce("and", how.value, None) if direct else simplify.negation(p.any(condition))


Term = tuple[str, eq.Expr, eq.Expr | None]


def _one_by_one(p: Problem, name: str) -> eq.Expr | None:
    """``c += a[i]; c += b[i]`` of numbers of open type as two sums: bytes of ``a`` and ``b`` added to each other would
    wrap, and added to ``c`` they do not where it is wider."""
    start, terms = p.inits[name], _terms(p.updates[name], p.carries[name])
    if terms is None or len(terms) < 2 or isinstance(start, eq.Const) or not is_open(start):
        return None
    if not all(is_open(t) and t.type.kind == "number" for _, t, _ in terms):
        return None
    total = start
    for op, term, where in terms:
        total = eq.Op(op, (total, p.reduce("add", term, where)), p.updates[name].type)
    return total


def _terms(e: eq.Expr, carried: eq.Expr) -> tuple[Term, ...] | None:
    """What is added to, or taken from, a carried value one after the other, each where a condition holds."""
    match e:
        case _ if e is carried:
            return ()
        case eq.Op(name="add" | "sub" as op, args=(before, term)):
            found = _terms(before, carried)
            return None if found is None else (*found, (op, term, None))
        case eq.Op(name="select", args=(condition, a, b)):
            one, other = _terms(a, carried), _terms(b, carried)
            if one is None or other is None:
                return None
            if len(one) < len(other):
                one, other, condition = other, one, negate(condition)
            if one[: len(other)] == other and all(where is None for _, _, where in one[len(other) :]):
                return (*other, *((op, term, condition) for op, term, _ in one[len(other) :]))
    return None


def _of_floats(total: eq.Expr, start: eq.Expr) -> eq.Expr:
    """A sum that begins with a float is one of floats, whatever integers are added to it."""
    if not isinstance(total, eq.Reduce) or kind_of(start) != FLOAT:
        return total
    of_floats = replace(total, type=FLOAT)
    return of_floats if in_floats(of_floats) else total


def wraps(t: ScalarType, op: str) -> bool:
    """Whether a sum or product in a variable of this type wraps in every round: one of all rounds is not its sum."""
    return op in ("add", "mul") and t.is_integer and t.bits is not None and t.bits < 32


def combined(op: str, init: eq.Expr, total: eq.Expr, like: eq.Expr) -> eq.Expr:
    """``init op total``, or the total alone where init is neutral."""
    negated = init.args[0] if isinstance(init, eq.Op) and init.name == "neg" else None
    if op == "max" and isinstance(negated, eq.Const) and negated.value == float("inf"):
        return total
    if isinstance(init, eq.Cast) and isinstance(init.arg, eq.Const) and init.type.is_inexact:
        init = init.arg  # float32(0.0), float32(0)
    if isinstance(init, eq.Const):
        if op == "and_" and init is neutral_of(op, like):
            return total
        if op in _NEUTRAL and init.value == _NEUTRAL[op] and not _minus_zero(init):
            return total
        if op in ("min", "max") and init.value == (float("inf") if op == "min" else float("-inf")):
            return total
    unsigned = like.type.kind == total.type.kind == "uint" and (like.type.bits or 0) >= 32
    if unsigned and init.type.kind == "int" and not isinstance(init, eq.Const):
        init = simplify.cast(like.type, init)  # an index: beside an unsigned number it would make a signed one
    return simplify.op(op, (init, total), like.type)


def _minus_zero(c: eq.Const) -> bool:
    return isinstance(c.value, float) and str(c.value) == "-0.0"


def _absorbed(p: Problem, op: str, body: eq.Expr, init: eq.Expr, total: eq.Reduce) -> eq.Reduce | None:
    """``m = x[0]; for j in range(1, n): m = max(m, x[j])`` is the reduction from 0 on: init is the term before the
    first. An extremum may begin with its first term twice."""
    if (
        op in ("min", "max")
        and p.step == 1
        and to_poly(total.axes[0].lo) == to_poly(p.start)
        and _term(p, body, p.start) is init
        and _counted(p, total)
    ):
        (axis,) = total.axes
        hi = axis.hi if surely_runs(p, p.start, init, body) else simplify.op("max", (axis.hi, _next(p)), axis.hi.type)
        return replace(total, axes=(replace(axis, hi=hi),))
    if total.where is not None or not from_start(p, total.axes[0]):
        return None
    before = previous(p)
    first = _term(p, body, before)
    if first is None or not same(first, init):
        return None
    axis = eq.Axis(p.index.name, before, total.axes[0].hi)
    if not surely_runs(p, before, init, body):
        return None
    return eq.Reduce(op, (axis,), body, None, total.type)


def _counted(p: Problem, total: eq.Reduce) -> bool:
    """Whether the first term is among those that the mask leaves, for every instance."""
    if total.where is None:
        return True
    try:
        there = [p.at(c, p.start) for c in conjuncts(total.where)]
    except Unmovable:
        return False
    return all(impossible((*p.path, negate(c))) for c in there)


def _term(p: Problem, body: eq.Expr, at: eq.Expr) -> eq.Expr | None:
    """The term of one round; None where it is part of a loop's result for all rounds."""
    try:
        return p.at(body, at)
    except Unmovable:
        return None


def _next(p: Problem) -> eq.Expr:
    return operation("add", (p.start, eq.Const(1, INT)), INT)
