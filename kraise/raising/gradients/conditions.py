"""Demands: the condition under which a value is used, as a small disjunction of conjunctions.

A literal is a number: twice the number of its condition, plus one where the condition must not hold. A conjunction is a
set of literals, a demand a set of conjunctions (any of which suffices). Comparisons that differ in spelling only
(``a > b`` and ``b < a``; for integers also ``not a >= b``) are one condition. Everything is ordered by first
appearance, so that the result does not depend on addresses. A demand may always be replaced by a weaker one (a value is
then computed where nobody needs it), never by a stronger one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kraise.analysis.dependence import implied
from kraise.ir.equations import Axis, Const, Expr, Index, Op, Reduce
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices
from kraise.raising.run import simplify

Conjunction = frozenset[int]
Demand = frozenset[Conjunction]

ALWAYS: Demand = frozenset((frozenset(),))
NEVER: Demand = frozenset()

_MOST_CONJUNCTIONS = 6
_MOST_LITERALS = 12


class Conditions:
    """The table of conditions of one kernel, and the algebra of demands over it."""

    def __init__(self, rounds: Iterable[Axis] = ()) -> None:
        """``rounds``: the axes of the loops, within which their indices lie."""
        self._within: dict[str, tuple[Expr, Expr]] = {}
        for a in rounds:
            index = Index(a.name, INT)
            self._within[a.name] = (_ge(index, a.lo), _lt(index, a.hi))
        self._numbers: dict[Expr, int] = {}
        self._shown: dict[int, Expr] = {}
        self._expressions: dict[Demand, Expr] = {}
        self._complements: dict[int, Conjunction] = {}

    # --- literals ----------------------------------------------------------------------------

    def literal(self, condition: Expr, holds: bool = True) -> int:
        """The literal for one condition, not taken apart."""
        canonical, positive = _canonical(condition)
        number = self._numbers.setdefault(canonical, len(self._numbers))
        code = 2 * number + (0 if positive == holds else 1)
        self._shown.setdefault(code, condition if holds else simplify.negation(condition))
        return code

    def shown(self, literal: int) -> Expr:
        """The literal as an expression, in the source's own spelling where there is one."""
        if literal not in self._shown:
            self._shown[literal] = simplify.negation(self._shown[literal ^ 1])
        return self._shown[literal]

    def literals(self, condition: Expr, holds: bool) -> Conjunction | None:
        """What must hold for the condition to hold (not to hold); None if it cannot."""
        found: set[int] = set()
        stack = [(condition, holds)]
        while stack:
            e, positive = stack.pop()
            match e:
                case Const(value=value):
                    if bool(value) is not positive:
                        return None
                case Op(name="not", args=(inner,)):
                    stack.append((inner, not positive))
                case Op(name="and", args=(a, b)) if positive:
                    stack += [(b, True), (a, True)]
                case Op(name="or", args=(a, b)) if not positive:
                    stack += [(b, False), (a, False)]
                case _:
                    found.add(self.literal(e, positive))
        return frozenset(found)

    def _complement(self, literal: int) -> Conjunction:
        """What holds when the literal does not."""
        if literal not in self._complements:
            self._complements[literal] = self.literals(self.shown(literal), False) or frozenset((literal ^ 1,))
        return self._complements[literal]

    def free(self, literal: int) -> frozenset[str]:
        """The indices that a literal mentions."""
        return free_indices(self.shown(literal))

    # --- demands -----------------------------------------------------------------------------

    def narrow(self, demand: Demand, condition: Expr | None, holds: bool = True) -> Demand:
        """The demand and the condition (or its negation)."""
        if condition is None or not demand:
            return demand
        more = self.literals(condition, holds)
        if more is None:
            return NEVER
        found = self._normal(c | more for c in demand)
        if len(more) > 1 and found == {more}:
            # all that is asked is what the condition says: in its own words
            self._expressions.setdefault(found, condition if holds else simplify.negation(condition))
        return found

    def either(self, a: Demand, b: Demand) -> Demand:
        """One demand or the other."""
        if a == b or not b:
            return a
        if not a:
            return b
        return ALWAYS if ALWAYS in (a, b) else self._normal(a | b)

    def both(self, a: Demand, b: Demand) -> Demand:
        """One demand and the other."""
        return self._normal(c | d for c in a for d in b)

    def weaken(self, demand: Demand, keep: Callable[[int], bool]) -> Demand:
        """The demand without the literals that are not kept."""
        kept = frozenset(frozenset(lit for lit in c if keep(lit)) for c in demand)
        return demand if kept == demand else self._normal(kept)

    def implies(self, condition: Expr, holds: bool, demand: Demand) -> bool:
        """Whether the demand plainly holds wherever the condition does (does not)."""
        known = self.literals(condition, holds)
        return known is None or any(c <= known for c in demand)

    def implied(self, condition: Expr, conjunction: Conjunction) -> bool:
        """Whether the condition plainly holds wherever the conjunction does."""
        asked = self.literals(condition, True)
        return asked is not None and asked <= conjunction

    def _normal(self, conjunctions: Iterable[Conjunction]) -> Demand:
        """Contradictions dropped, ``c or not c`` resolved, what another conjunction implies absorbed, size bounded."""
        found = {
            self._chosen(c) for c in conjunctions if not any(lit ^ 1 in c or self._complement(lit) <= c for lit in c)
        }
        if len(found) > 4 * _MOST_CONJUNCTIONS:
            return self._bounded(frozenset(found))
        changed = len(found) > 1
        while changed:
            changed = False
            for c in sorted(found, key=sorted):
                for lit in sorted(c):
                    rest = c - {lit}
                    others = rest | self._complement(lit)
                    if any(other is not c and other <= others for other in found):
                        found = {o for o in found - {c} if not rest <= o} | {rest}
                        changed = True
                        break
                if changed:
                    break
        return self._bounded(frozenset(c for c in found if not any(o < c for o in found)))

    def _chosen(self, c: Conjunction) -> Conjunction:
        """Without ``x != 1`` beside ``x == 2``."""
        equal = {x: value for lit in c if lit % 2 == 0 for x, value in self._equality(lit)}
        if not equal:
            return c
        return c - {lit for lit in c if lit % 2 for x, v in self._equality(lit ^ 1) if equal.get(x, v) != v}

    def _equality(self, literal: int) -> list[tuple[Expr, object]]:
        """Where the literal is ``x == constant``: the two."""
        match _canonical(self.shown(literal))[0]:
            case Op(name="eq", args=(x, Const(value=value))) | Op(name="eq", args=(Const(value=value), x)):
                return [(x, value)]
        return []

    def _bounded(self, demand: Demand) -> Demand:
        if len(demand) > _MOST_CONJUNCTIONS:
            return frozenset((frozenset((self.literal(self.expression(demand)),)),))
        if any(len(c) > _MOST_LITERALS for c in demand):
            return frozenset(
                frozenset((self.literal(self.expression(frozenset((c,)))),)) if len(c) > _MOST_LITERALS else c
                for c in demand
            )
        return demand

    def expression(self, demand: Demand) -> Expr:
        """The demand as a boolean expression."""
        if demand not in self._expressions:
            self._expressions[demand] = simplify.disjunction(
                *(simplify.conjunction(*map(self.shown, sorted(c))) for c in sorted(demand, key=sorted))
            )
        return self._expressions[demand]

    # --- indices that are left ---------------------------------------------------------------

    def project(self, demand: Demand, names: frozenset[str], axes: dict[str, Axis | None]) -> Demand:
        """The demand of a value that does not depend on ``names``: for some point of their axes.

        What then depends on no index at all ("some lane does") is left out, and so is an index unequal to something:
        both nearly always hold. An axis that is not known leaves its literals out too.
        """
        for name in sorted(names):
            demand = self._normal([self._without(c, name, axes.get(name)) for c in demand])
        return demand

    def _without(self, c: Conjunction, name: str, axis: Axis | None) -> Conjunction:
        bound = sorted(lit for lit in c if name in self.free(lit))
        rest = c.difference(bound)
        if not bound or axis is None:
            return rest
        if len(bound) == 1:
            closed = self._range(bound[0], name, axis)
            if closed is not None:
                return rest | frozenset(lit for lit in closed if not self._sure(lit))
        condition = simplify.conjunction(*map(self.shown, bound))
        if not free_indices(condition) - {name}:
            return rest
        if isinstance(condition, Reduce) and condition.op == "or" and condition.where is None:
            return rest | {self.literal(Reduce("or", (axis, *condition.axes), condition.body, None, BOOL))}
        return rest | {self.literal(Reduce("or", (axis,), condition, None, BOOL))}

    def _sure(self, literal: int) -> bool:
        """Whether every round of the loops around it meets a condition."""
        names = self.free(literal)
        if not names or not names <= self._within.keys():
            return False
        return implied([c for n in sorted(names) for c in self._within[n]], self.shown(literal))

    def _range(self, literal: int, name: str, axis: Axis) -> Conjunction | None:
        """``for some name in its range: name < e`` and the like in closed form; None if it is not like that."""
        canonical, positive = _canonical(self.shown(literal))
        if not isinstance(canonical, Op) or canonical.name not in ("lt", "eq") or axis.step != 1:
            return None
        a, b = canonical.args
        if not (a.type.is_integer and b.type.is_integer):
            return None
        left = isinstance(a, Index) and a.name == name
        other = b if left else a
        if name in free_indices(other) or not (left or (isinstance(b, Index) and b.name == name)):
            return None
        last = simplify.op("sub", (axis.hi, Const(1, axis.hi.type)), axis.hi.type)
        if canonical.name == "eq":
            # among several values one is unequal; equal to one of the range: inside it
            inside = simplify.conjunction(_ge(other, axis.lo), _lt(other, axis.hi))
            return self.literals(inside, True) if positive else frozenset()
        if left:  # name < e: the first one is; name >= e: the last one is
            return self.literals(_lt(axis.lo, other) if positive else _lt(other, axis.hi), True)
        return self.literals(_lt(other, last) if positive else _ge(other, axis.lo), True)


def _lt(a: Expr, b: Expr) -> Expr:
    return simplify.op("lt", (a, b), BOOL)


def _ge(a: Expr, b: Expr) -> Expr:
    return simplify.op("ge", (a, b), BOOL)


def _canonical(condition: Expr) -> tuple[Expr, bool]:
    """The condition that stands for all its spellings, and whether it must hold."""
    match condition:
        case Op(name="not", args=(inner,)):
            canonical, positive = _canonical(inner)
            return canonical, not positive
        case Op(name="ne", args=args):
            return Op("eq", args, BOOL), False
        case Op(name="gt", args=(a, b)):
            return Op("lt", (b, a), BOOL), True
        case Op(name="ge", args=(a, b)) if a.type.is_integer and b.type.is_integer:
            return Op("lt", (a, b), BOOL), False
        case Op(name="le", args=(a, b)) if a.type.is_integer and b.type.is_integer:
            return Op("lt", (b, a), BOOL), False
        case Op(name="ge", args=(a, b)):
            return Op("le", (b, a), BOOL), True
        case Op(name="eq" | "lt" | "le" as name, args=args):
            return Op(name, args, BOOL), True
    return condition, True
