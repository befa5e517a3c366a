"""Carried scalars that are functions of the loop's index: unchanged ones, and ``k += c``."""

from __future__ import annotations

from kraise.analysis.conditions import conjuncts, negate
from kraise.analysis.delinearize import provable
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT, ScalarType
from kraise.ir.walk import free_indices, topological
from kraise.raising.carried.problem import Declined, Problem, Solved, last_value
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import index_like, operation
from kraise.raising.writes.accumulate import contribution, holds


def invariant(p: Problem, name: str) -> Solved | Declined:
    """The loop does not change it."""
    c = p.carries[name]
    if p.updates[name] is c:
        return Solved({name: p.inits[name]}, {c: p.inits[name]}, "unchanged")
    return Declined(f"{name} changes")


def renewed(p: Problem, name: str) -> Solved | Declined:
    """Each round makes it anew of its index, and none asks for what it was: it is what the last round says."""
    nodes = topological((p.updates[name],))
    if p.used_in(name) or any(isinstance(n, eq.CarryIn | eq.Read) or p.changing(n) for n in nodes):
        return Declined(f"{name} is made of what the loop changes")
    return Solved({name: last_value(p, name, p.inits[name])}, {}, "what the last round says")


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
    if p.index.name in free_indices(amount) or not _unmoved(p, amount):
        return Declined(f"the step of {name} changes in the loop")
    rounds = rounds_before(p, p.index)
    if rounds is None:
        return Declined(f"the number of rounds before one is not affine for {name}")
    end = operation("add", (p.last(), eq.Const(p.step, INT)), INT)
    total = rounds_before(p, end)
    assert total is not None
    closed = _moved(p, c.type, init, rounds, amount, p.range)
    final = _moved(p, c.type, init, total, amount, (p.runs,))
    kept = init if final.type == INT else simplify.cast(final.type, init)
    return Solved({name: simplify.select(p.runs, final, kept, final.type)}, {c: closed}, "a function of the index")


def _unmoved(p: Problem, amount: eq.Expr) -> bool:
    """Whether nothing in ``amount`` is carried, or changed by a round."""
    if any(holds(amount, x) for x in p.carries.values()) or not p.free_of_pending(amount):
        return False
    return not any(p.changing(node) for node in topological((amount,)))


def polynomial(p: Problem, name: str) -> Solved | Declined:
    """``k = k + a + b * index`` in every round, ``b`` a number and ``a`` what the loop does not change: with ``m``
    rounds before, ``init + a * m + b * (start * m + m * (m - 1) / 2)`` (the places of a triangle's rows)."""
    c, init = p.carries[name], p.inits[name]
    how = contribution(p.updates[name], c)
    if how is None or how.op != "add" or how.value is None:
        return Declined(f"{name} is not moved in every round")
    kinds = {t.type for t in (c, init, how.value)}
    if not all(t.is_integer and t.kind == "int" and (t.bits is None or t.bits >= 32) for t in kinds):
        return Declined(f"{name} is not an integer")
    amount = to_poly(how.value)
    slope, rest = amount.coefficient(p.index).value, amount.without(p.index)
    fixed = to_expr(rest)
    if not slope or p.index.name in free_indices(fixed) or not _unmoved(p, fixed):
        return Declined(f"the step of {name} is no line in the index")
    if not _everywhere(p, amount, how.where):
        return Declined(f"{name} is not moved in every round")
    rounds = rounds_before(p, p.index)
    if rounds is None or not index_like(fixed):
        return Declined(f"the number of rounds before one is not affine for {name}")
    end = operation("add", (p.last(), eq.Const(p.step, INT)), INT)
    total = rounds_before(p, end)
    assert total is not None

    moved, bend = rest + to_poly(p.start) * slope, slope * p.step

    def after(m: eq.Expr) -> eq.Expr:
        many, sign = to_poly(m), 1 if bend > 0 else -1
        own = (many * many * bend + many * (2 * moved.offset - bend)) * sign  # twice what numbers alone say
        if bend % 2:
            half = to_poly(operation("floordiv", (to_expr(own), eq.Const(2, INT)), INT))
        else:
            half = Poly({t: c // 2 for t, c in own.terms.items()})
        return operation("add", (init, to_expr((moved - moved.offset) * many + half * sign)), INT)

    final = after(total)
    if not provable(p.path, to_poly(total)):  # where there is no round, that number may be below zero
        final = simplify.select(p.runs, final, init, INT)
    return Solved({name: final}, {c: after(rounds)}, "a function of the index")


def _everywhere(p: Problem, amount: Poly, where: eq.Expr | None) -> bool:
    """Whether ``amount`` is added in every round: where the condition does not hold, it is nothing."""
    if where is None:
        return True
    known = tuple(dict.fromkeys((*p.path, *p.range, *conjuncts(negate(where)))))
    return provable(known, amount) and provable(known, amount * -1)


def _moved(
    p: Problem, kind: ScalarType, init: eq.Expr, rounds: eq.Expr, amount: eq.Expr, facts: tuple[eq.Expr, ...]
) -> eq.Expr:
    """``init + rounds * amount``: index arithmetic, but of a generator's numbers, which wrap, and of unsigned ones that
    may go below zero."""
    if kind.kind != "uint" or not kind.bits:
        return _line(init, rounds, amount, INT)
    if index_like(init):
        step = _signed(amount, kind)
        line = _line(init, rounds, step, INT)
        below = any(c < 0 for c in to_poly(step).terms.values())
        if not below or provable((*p.path, *facts), to_poly(line)):
            return line
    init, rounds, amount = (simplify.cast(kind, e) for e in (init, rounds, amount))
    return _line(init, rounds, amount, kind)


def _line(init: eq.Expr, rounds: eq.Expr, amount: eq.Expr, kind: ScalarType) -> eq.Expr:
    match amount:
        case eq.Op(name="neg", args=(less,)) if kind != INT:
            return operation("sub", (init, operation("mul", (rounds, less), kind)), kind)
    return operation("add", (init, operation("mul", (rounds, amount), kind)), kind)


def _signed(amount: eq.Expr, kind: ScalarType) -> eq.Expr:
    """What an unsigned number is moved by, with its sign."""
    match amount:
        case eq.Op(name="neg" | "sub" as name, args=args) if amount.type == kind and all(map(index_like, args)):
            return operation(name, args, INT)
        case eq.Const(value=int() as number, type=t) if t == kind and t.bits and number >= 1 << (t.bits - 1):
            return eq.Const(number - (1 << t.bits), INT)
    return amount


def rounds_before(p: Problem, index: eq.Expr) -> eq.Expr | None:
    """How many rounds come before the one with ``index``."""
    distance = to_poly(index) - to_poly(p.start)
    if abs(p.step) == 1:
        return to_expr(distance * p.step)
    if all(k % p.step == 0 for k in distance.terms.values()):
        return to_expr(Poly({m: k // p.step for m, k in distance.terms.items()}))
    return simplify.op("floordiv", (to_expr(distance), eq.Const(p.step, INT)), INT)
