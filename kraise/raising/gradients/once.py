"""One operation where masks would make two: what a condition asks for, too, and what only one of two branches does.

A root that a condition compares and a branch uses would come out twice, once plain and once with a safe operand; where
its slope is finite wherever the condition asks for it, the safe one serves both. ``x ** p`` where x > 0 and
``(-x) ** p`` where x < 0 are one power, of the operand that its lane has.
"""

from __future__ import annotations

from kraise.ir.equations import Const, Expr, Op, Param
from kraise.ir.types import FLOAT64
from kraise.ir.walk import substitute, transform
from kraise.raising.gradients.conditions import ALWAYS, NEVER, Conditions, Conjunction, Demand
from kraise.raising.gradients.hazards import hazards
from kraise.raising.gradients.intervals import verdict
from kraise.raising.gradients.needs import within
from kraise.raising.gradients.usage import Unit
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


def widen(unit: Unit, conditions: Conditions) -> None:
    """Demands of operations widened to what conditions ask of them, where their slopes are finite there."""
    masked = {
        n
        for n in unit.order()
        if isinstance(n, Op) and n.name in _BAD and unit.demands[n] not in (ALWAYS, NEVER) and hazards(n, unit.axes[n])
    }
    if not masked:
        return
    for node, need in unit.needs(conditions, masked.__contains__).items():
        assert isinstance(node, Op)
        demand = unit.demands[node]
        if not within(need, demand) and all(_finite(conditions, c, node) for c in need):
            unit.demands[node] = conditions.either(demand, need)


def _finite(conditions: Conditions, conjunction: Conjunction, node: Op) -> bool:
    """Whether what holds keeps the operands of a node away from where its slopes are infinite."""
    for k, _ in hazards(node):
        operand = node.args[k]
        while isinstance(operand, Op) and operand.name == "select" and conditions.implied(operand.args[0], conjunction):
            operand = operand.args[1]
        bad: dict[Expr, Expr] = {operand: _BAD[node.name]}
        if not any(verdict(substitute(conditions.shown(lit), bad)) is False for lit in conjunction):
            return False
    return True


def shared(unit: Unit, conditions: Conditions) -> dict[Expr, Expr]:
    """Operations with a safe operand that the site's conditions may use, too (where they ask for the value it is the
    same), and those that are one."""
    made = {n: new for n in unit.order() if _is_masked(n, new := unit.done[n])}
    made |= {n: new for n in unit.order() if (new := unit.done[n]) is not n and _is_constant(n, new)}
    needed = unit.needs(conditions, made.__contains__) if made else {}
    found: dict[Expr, Expr] = {}
    for node, new in made.items():
        if node in needed and within(needed[node], unit.demands[node]):
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


__all__ = ["shared", "widen"]
