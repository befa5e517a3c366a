"""How many rounds a while loop can have: its static bound (contract, section 5).

Something in what a round needs (the condition; that no exit was taken in the round before) says that a variable has not
passed a bound, and every round that another one follows moves the variable towards it by one at least. The side
conditions: the variable starts from what indices and sizes say, and so is the bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from kraise.analysis.boxes import Unbounded, box
from kraise.analysis.conditions import Fact, classify, conjuncts, fact_to_expr, negate, static_expr
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT, ScalarType
from kraise.ir.walk import substitute
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import index_like, tidy
from kraise.raising.run.state import State
from kraise.raising.writes.accumulate import holds


@dataclass(frozen=True)
class Bounded:
    """The range of the rounds, the condition that holds in all of them (None: there is none) or, ``first``, in all but
    the first, and the unsigned differences of sizes that the range is made of: they must not be below zero."""

    axis: eq.Axis
    sure: eq.Expr | None
    first: eq.Expr | None = None  # what a round asks for: that it is the first, or ``sure`` and more
    more: eq.Expr | None = None  # what is left to ask for
    differences: tuple[eq.Expr, ...] = ()


@dataclass(frozen=True)
class _Need:
    """What every round needs: ``condition`` over the values on entry to it, or, if ``late``, to the round before it;
    ``spared`` where the first round does not need it (as ``first`` says, if that is all there is to it)."""

    condition: eq.Expr
    late: bool = False
    spared: bool = False
    first: eq.Expr | None = None


@dataclass
class _Loop:
    """One loop: the index of its rounds, its condition, what is carried, from where, and what a round makes of it."""

    st: State
    index: eq.Index
    condition: eq.Expr
    carries: Mapping[str, eq.CarryIn]
    inits: Mapping[str, eq.Expr]
    updates: Mapping[str, eq.Expr]
    going: dict[eq.Expr, eq.Expr] = field(default_factory=dict)

    def needs(self) -> Iterator[_Need]:
        for c in conjuncts(self.condition):
            yield from self._asks(c)
            arms = _disjuncts(c)
            first = [a for a in arms if self._first(a)]
            if first and len(arms) == 2:
                (other,) = (a for a in arms if a is not first[0])
                for x in conjuncts(other):
                    yield from self._asks(x, c)

    def _asks(self, c: eq.Expr, first: eq.Expr | None = None) -> Iterator[_Need]:
        """The condition ``c``, and what it says of the round before if it is that this one took no exit."""
        yield _Need(c, spared=first is not None, first=first)
        flag = next((n for n, node in self.carries.items() if c is simplify.negation(node)), None)
        if flag is not None and self.inits[flag] is simplify.FALSE:
            parts = [d for d in _disjuncts(self.updates[flag]) if d is not self.carries[flag]]
            self.going |= dict.fromkeys(parts, simplify.FALSE) | {negate(d): simplify.TRUE for d in parts}
            for d in parts:
                yield from (_Need(x, late=True, spared=True) for x in conjuncts(negate(d)))

    def _first(self, e: eq.Expr) -> bool:
        """Whether ``e`` is a flag that is set in the first round only."""
        name = next((n for n, node in self.carries.items() if node is e), None)
        return name is not None and self.inits[name] is simplify.TRUE and self.updates[name] is simplify.FALSE

    def left(self, first: eq.Expr, sure: eq.Expr) -> eq.Expr:
        """What a round asks for that is the first one, or one in which ``sure`` holds, and more."""
        left = tidy(substitute(first, {sure: simplify.TRUE}))
        others = [a for a in _disjuncts(left) if not self._first(a)]
        start = {node: self.inits[n] for n, node in self.carries.items()}
        holds_at_first = len(others) == 1 and tidy(substitute(others[0], start)) is simplify.TRUE
        return others[0] if holds_at_first else left

    def steps(self, name: str) -> tuple[int, int] | None:
        """The least and the most by which a round that another one follows moves ``name``."""
        update = tidy(substitute(self.updates[name], self.going)) if self.going else self.updates[name]
        return _moves(update, self.carries[name])


def _disjuncts(e: eq.Expr) -> list[eq.Expr]:
    if isinstance(e, eq.Op) and e.name == "or":
        return [d for a in e.args for d in _disjuncts(a)]
    return [e]


def _moves(u: eq.Expr, node: eq.Expr) -> tuple[int, int] | None:
    if u is node:
        return 0, 0
    match u:
        case eq.Op(name="select", args=(_, a, b)):
            one, two = _moves(a, node), _moves(b, node)
            return None if one is None or two is None else (min(one[0], two[0]), max(one[1], two[1]))
        case (
            eq.Op(name="add", args=(a, eq.Const(value=int() as c)))
            | eq.Op(name="add", args=(eq.Const(value=int() as c), a))
        ):
            inner = _moves(a, node)
            return None if inner is None else (inner[0] + c, inner[1] + c)
        case eq.Op(name="sub", args=(a, eq.Const(value=int() as c))):
            inner = _moves(a, node)
            return None if inner is None else (inner[0] - c, inner[1] - c)
        case eq.Op(type=t) if t.is_integer and not holds(u, node):
            return None
    rest = to_poly(u) - Poly({(node,): 1}) if u.type.is_integer else Poly({(node,): 1})
    return None if rest.value is None else (rest.value, rest.value)


def bounded(
    st: State,
    index: eq.Index,
    condition: eq.Expr,
    carries: Mapping[str, eq.CarryIn],
    inits: Mapping[str, eq.Expr],
    updates: Mapping[str, eq.Expr],
) -> Bounded | None:
    """The static range of the rounds of ``while condition``, or None if nothing bounds it."""
    loop = _Loop(st, index, condition, carries, inits, updates)
    wrapped: list[Bounded] = []
    for need in list(loop.needs()):
        fact = classify(need.condition)
        if fact is None:
            continue
        differences = tuple(n for a in fact.poly.atoms() for n in unsigned_differences(a))
        for name, node in carries.items():
            found = _under(loop, need, fact, name, node)
            if found is not None and not differences:
                return found
            if found is not None and all(map(static_expr, differences)):
                wrapped.append(replace(found, differences=differences))
    return wrapped[0] if wrapped else None


def unsigned_differences(e: eq.Expr) -> list[eq.Expr]:
    """The differences ``n - 5u`` and ``(unsigned)(n - 5)`` that may go round, as signed ones."""
    match e:
        case eq.Op(name="sub", args=(a, b), type=ScalarType(kind="uint")):
            return [to_expr(to_poly(a) - to_poly(b))]
        case eq.Cast(type=ScalarType(kind="uint"), arg=eq.Op(type=ScalarType(kind="int")) as a):
            return [a] if any(c < 0 for c in to_poly(a).terms.values()) else []
        case eq.Op(args=args):
            return [d for a in args for d in unsigned_differences(a)]
        case eq.Cast(type=ScalarType(is_integer=True), arg=a):
            return unsigned_differences(a)
    return []


def followed(
    st: State,
    index: eq.Index,
    condition: eq.Expr,
    carries: Mapping[str, eq.CarryIn],
    inits: Mapping[str, eq.Expr],
    updates: Mapping[str, eq.Expr],
) -> dict[str, eq.Expr]:
    """What the rounds that another one follows make of what is carried: none of them takes an exit."""
    loop = _Loop(st, index, condition, carries, inits, updates)
    list(loop.needs())
    return {n: tidy(substitute(u, loop.going)) for n, u in updates.items()}


def _under(loop: _Loop, need: _Need, fact: Fact, name: str, node: eq.CarryIn) -> Bounded | None:
    """The range under one fact about one carried variable."""
    sign = fact.poly.coefficient(node).value if node in fact.poly.atoms() else None
    init, st = loop.inits[name], loop.st
    if sign is None or not init.type.is_integer or not index_like(init):
        return None
    moved = loop.steps(name)
    if moved is None:
        return None
    least, most = moved
    poly = fact.poly
    if fact.kind == "ne":
        gap = poly.substitute(node, to_poly(init)).value
        if gap is None or gap == 0 or least != most or abs(least * sign) != 1 or (gap < 0) != (least * sign > 0):
            return None
        poly, sign = (poly - 1, sign) if gap > 0 else (-poly - 1, -sign)  # the point is ahead, and met
    elif fact.kind != "ge":
        return None
    step = least if sign < 0 else most
    if step * sign >= 0:
        return None
    round_ = Poly({(loop.index,): 1}) - (1 if need.late else 0)
    reached = fact_to_expr(Fact("ge", poly.substitute(node, to_poly(init) + round_ * step)))
    start = eq.Op("ge", (loop.index, eq.Const(0, INT)), BOOL)
    try:
        found = box((loop.index.name,), (start, reached, *st.path), st.open)
    except Unbounded:
        return None
    axis = found.axes[0]
    if need.spared:
        axis = eq.Axis(axis.name, axis.lo, simplify.op("max", (eq.Const(1, INT), axis.hi), INT), axis.step)
    alone = not need.spared or need.first is not None
    exact = least == most and step > 0 and sign == -1 and alone and reached not in found.residue
    if not exact or need.first is None:
        return Bounded(axis, need.condition if exact else None)
    return Bounded(axis, need.condition, need.first, loop.left(need.first, need.condition))
