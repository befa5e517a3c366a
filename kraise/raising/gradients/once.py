"""One operation where masks would make two: what a condition asks for, too, and what only one of two branches does.

A root that a condition compares and a branch uses would come out twice, once plain and once with a safe operand; where
its slope is finite wherever the condition asks for it, the safe one serves both. ``x ** p`` where x > 0 and
``(-x) ** p`` where x < 0 are one power, of the operand that its lane has.
"""

from __future__ import annotations

from kraise.ir.equations import Const, Expr, Op, Param
from kraise.ir.types import FLOAT64
from kraise.ir.walk import children, substitute, topological, transform
from kraise.raising.gradients.conditions import ALWAYS, NEVER, Conditions, Conjunction, Demand
from kraise.raising.gradients.hazards import hazards
from kraise.raising.gradients.intervals import Interval, bounds_by, interval, interval_given, verdict
from kraise.raising.gradients.needs import within
from kraise.raising.gradients.usage import Unit, value_children
from kraise.raising.run import simplify

_TINY = Const(1e-12, FLOAT64)  # from here on no quotient of numbers of single precision's middle range overflows
_ANY = Param("any number", FLOAT64)
_BELOW = Op("min", (_ANY, _TINY), FLOAT64)
_NEAR_ZERO = Op("max", (_BELOW, Const(-1e-12, FLOAT64)), FLOAT64)
_NOT_POSITIVE = Op("min", (_ANY, Const(0.0, FLOAT64)), FLOAT64)
# numbers among which are all operands at which the operation or its slope is not finite (but NaN)
_BAD: dict[str, Expr] = {
    "sqrt": _NOT_POSITIVE,
    **dict.fromkeys(("rsqrt", "log", "log2", "log10"), _BELOW),
    **dict.fromkeys(("div", "cbrt"), _NEAR_ZERO),
}
# a bound beyond which none of them lies
_FROM = {name: 0.0 if name == "sqrt" else 0.99e-12 for name in _BAD}
_NEGATIVE = Op("min", (_ANY, Const(-5e-324, FLOAT64)), FLOAT64)
_COSTLY = (
    "pow",
    "sqrt",
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "lgamma",
    "tan",
    "sinh",
    "cosh",
)


def wanted_plain(unit: Unit, conditions: Conditions) -> dict[Expr, Demand]:
    """The operations that masks would make safe, each with what conditions ask of it beyond its demand."""
    masked = {
        n
        for n in unit.order()
        if isinstance(n, Op) and n.name in _BAD and unit.demands[n] not in (ALWAYS, NEVER) and hazards(n, unit.axes[n])
    }
    needs = unit.needs(conditions, masked.__contains__) if masked else {}
    return {n: need for n, need in needs.items() if not within(need, unit.demands[n])}


def widen(unit: Unit, conditions: Conditions, node: Expr, need: Demand) -> bool:
    """Widens the demand of an operation to what conditions ask of it, if its slopes are finite there. The result:
    whether it is a root for which that is so but at zero, where it has to be a constant."""
    assert isinstance(node, Op)
    below = topological((node,), value_children)
    if any(n in unit.masked and not within(need, unit.demands[n]) for n in below):
        return False  # its operand is something else where they ask
    demand = unit.demands[node]
    wider = conditions.either(demand, need)
    if all(_finite(conditions, c, node) for c in need):
        unit.demands[node] = wider
        return False
    touching = node.name == "sqrt" and _compared_further(conditions, demand, node)
    if touching and all(_ruled_out(conditions, c, node.args[0], _NEGATIVE) for c in wider):
        unit.demands[node] = wider
        return True
    return False


def _compared_further(conditions: Conditions, demand: Demand, node: Expr) -> bool:
    """Whether a demand compares what is made of the value: it would come out twice, too."""
    compared = [e for c in demand for lit in c for e in children(conditions.shown(lit))]
    return any(node is not e and node in topological((e,)) for e in compared)


def _finite(conditions: Conditions, conjunction: Conjunction, node: Op) -> bool:
    """Whether what holds keeps the operands of a node away from where its slopes are infinite."""
    given: dict[Expr, Interval] = {}
    for found in (bounds_by(conditions.shown(lit)) for lit in conjunction):
        if found is not None:
            value, (lo, hi) = found
            least, most = given.get(value, interval(value))
            given[value] = max(lo, least), min(hi, most)
    for k, _ in hazards(node):
        operand = node.args[k]
        while isinstance(operand, Op) and operand.name == "select" and conditions.implied(operand.args[0], conjunction):
            operand = operand.args[1]
        lo, hi = interval_given(operand, given)
        beyond = lo > _FROM[node.name] or (hi < -_FROM[node.name] and node.name in ("div", "cbrt"))
        if not beyond and not _ruled_out(conditions, conjunction, operand, _BAD[node.name]):
            return False
    return True


def _ruled_out(conditions: Conditions, conjunction: Conjunction, value: Expr, bad: Expr) -> bool:
    """Whether what holds rules out that a value is one of some numbers."""
    return any(verdict(substitute(conditions.shown(lit), {value: bad})) is False for lit in conjunction)


def shared(unit: Unit, conditions: Conditions) -> dict[Expr, Expr]:
    """Operations with a safe operand that the site's conditions may use, too (where they ask for the value it is the
    same), and those that are one."""
    made = {n: new for n in unit.order() if _is_masked(n, new := unit.done[n])}
    made |= {n: new for n in unit.order() if (new := unit.done[n]) is not n and _is_constant(n, new)}
    needed = unit.needs(conditions, lambda n: n in made or n in unit.masked) if made else {}
    others = {n for n in unit.masked if n in needed and not within(needed[n], unit.demands[n])}
    for node in unit.order() if others else ():
        if not others.isdisjoint(value_children(node)):
            others.add(node)  # what conditions ask of it is another value
    found: dict[Expr, Expr] = {}
    for node, new in made.items():
        if node in needed and node not in others and within(needed[node], unit.demands[node]):
            found[node] = transform(new, lambda n: n, dict(found))
    return found | _merged(unit, conditions, frozenset(needed))


def _merged(unit: Unit, conditions: Conditions, also: frozenset[Expr]) -> dict[Expr, Expr]:
    """Costly operations with safe operands that no lane uses both of, each pair as one; not those in ``also``."""
    found: dict[Expr, Expr] = {}
    waiting: list[tuple[Op, Op]] = []
    for node in unit.order():
        new = unit.done[node]
        if node in also or not (isinstance(node, Op) and isinstance(new, Op) and node.name == new.name in _COSTLY):
            continue
        if not (isinstance(new.args[0], Op) and new.args[0].name == "select"):
            continue
        for first in waiting:
            one = _chosen(unit, conditions, first, (node, new))
            if one is not None:
                found[first[1]] = found[new] = one
                waiting.remove(first)
                break
        else:
            waiting.append((node, new))
    return found


def _chosen(unit: Unit, conditions: Conditions, first: tuple[Op, Op], second: tuple[Op, Op]) -> Op | None:
    """Both operations as one of the operand that a lane has; None where they differ in more, or a lane has both."""
    (a, one), (b, two) = first, second
    alike = one.name == two.name and one.type == two.type and one.args[1:] == two.args[1:]
    demand, other = unit.demands[a], unit.demands[b]
    if not alike or len(demand) != 1 or len(other) != 1 or conditions.both(demand, other) != NEVER:
        return None
    (holds,), (left,) = demand, other
    x, y = (s.args[1] for s in (one.args[0], two.args[0]))  # type: ignore[union-attr]
    safe = two.args[0].args[2]  # type: ignore[union-attr]
    if conditions.expression(demand) is not one.args[0].args[0]:  # type: ignore[union-attr]
        return None
    if conditions.expression(other) is not two.args[0].args[0]:  # type: ignore[union-attr]
        return None
    rest: Demand = frozenset((left - {lit ^ 1 for lit in holds},)) if len(holds) == 1 else other
    operand = simplify.select(conditions.expression(rest), y, safe, y.type)
    return Op(one.name, (simplify.select(one.args[0].args[0], x, operand, x.type), *one.args[1:]), one.type)  # type: ignore


def _is_masked(node: Expr, new: Expr) -> bool:
    """Whether an operation got a safe operand of its own."""
    if not (isinstance(node, Op) and isinstance(new, Op) and new.name == node.name and hazards(node)):
        return False
    return any(isinstance(new.args[k], Op) and new.args[k].name == "select" for k, _ in hazards(node))  # type: ignore


def _is_constant(node: Expr, new: Expr) -> bool:
    """Whether an operation became a constant at a point, with the same value."""
    return isinstance(node, Op) and node.name != "select" and isinstance(new, Op) and new.name == "select"


__all__ = ["shared", "wanted_plain", "widen"]
