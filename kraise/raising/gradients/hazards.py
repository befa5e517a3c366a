"""Where operations have no finite derivative: regions of operands that are safe, points that are not."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from kraise.ir.equations import Axis, Cast, Const, Expr, Op, Param, Reduce, Scan
from kraise.ir.operations import OPERATIONS
from kraise.ir.types import BOOL, FLOAT, INT, ScalarType
from kraise.raising.gradients.intervals import Interval, interval, interval_over, multiplied
from kraise.raising.run import simplify

# --- regions ---------------------------------------------------------------------------------


def _above(bound: float) -> Callable[[Interval, float], bool]:
    return lambda at, scale: at[0] > bound


def _below(bound: float) -> Callable[[Interval, float], bool]:
    return lambda at, scale: at[1] <= bound * scale


def _inside(bound: float) -> Callable[[Interval, float], bool]:
    return lambda at, scale: -bound < at[0] and at[1] < bound


def _not_zero(at: Interval, scale: float = 1.0) -> bool:
    return at[0] > 0 or at[1] < 0


# the operand region in which value and partials are finite, for the operand that ``safe`` names; ``scale`` is small for
# half precision, whose exponentials overflow early. An operation that is not here is safe nowhere.
_REGIONS: dict[str, Callable[[Interval, float], bool]] = {
    **dict.fromkeys(("div", "floordiv", "mod", "fmod", "remainder", "cbrt", "rcbrt"), _not_zero),
    **dict.fromkeys(("sqrt", "rsqrt", "log", "log2", "log10"), _above(0.0)),
    "log1p": _above(-1.0),
    "acosh": _above(1.0),
    **dict.fromkeys(("asin", "acos", "atanh"), _inside(1.0)),
    **dict.fromkeys(("exp", "expm1"), _below(80.0)),
    "exp2": _below(120.0),
    "exp10": _below(35.0),
    **dict.fromkeys(("sinh", "cosh"), lambda at, scale: -80 * scale <= at[0] and at[1] <= 80 * scale),
    **dict.fromkeys(("lgamma", "gamma"), lambda at, scale: at[0] > 0 and at[1] <= 30 * scale),
    "tan": lambda at, scale: True,  # finite wherever a float can get
}


def hazards(node: Op, axes: Mapping[str, Axis | None] | None = None) -> tuple[tuple[int, int], ...]:
    """The operands, each with its safe value, that may be where ``node`` or a partial of it is not finite; ``axes``:
    what its indices run over, as far as that is known."""
    safe = OPERATIONS[node.name].safe
    if not safe:
        return ()
    at = [interval_over(a, axes or {}) for a in node.args]
    if node.name in ("hypot", "atan2"):
        regular = any(_not_zero(a) for a in at)
    elif node.name == "pow":
        regular = _regular_power(node.args[1], at[0], at[1])
    else:
        region = _REGIONS.get(node.name)
        scale = 0.125 if node.type.kind == "float" and node.type.bits == 16 else 1.0
        regular = region is not None and all(region(at[k], scale) for k, _ in safe)
    return () if regular else tuple((k, int(value)) for k, value in safe)


_STEEP = 16  # an exponent


def _regular_power(exponent: Expr, base: Interval, power: Interval) -> bool:
    if isinstance(exponent, Const) and isinstance(exponent.value, int | float):
        y = exponent.value
        if abs(y) > _STEEP and not -2 <= base[0] <= base[1] <= 2:
            return False  # overflows early
        # a root's own derivative is finite at zero from x ** 1 on, that of its derivative from x ** 2 on
        return (y >= 0 and y == int(y)) or base[0] > 0 or (y >= 2 and base[0] >= 0)
    if base[0] <= 0 or math.isinf(base[1]):
        return False
    steepest = multiplied((math.log(base[0]), math.log(base[1])), power)
    return steepest[1] <= 80


def overflows(node: Expr) -> bool:
    """Whether a product over an axis, or a running one, may leave the numbers: more than a few factors above one."""
    match node:
        case Reduce(op="mul", axes=axes, body=body):
            pass
        case Scan(op="mul" | "linear", axis=axis, body=body):
            axes = (axis,)
        case _:
            return False
    short = math.prod(interval(a.hi)[1] - interval(a.lo)[0] for a in axes) <= _STEEP
    lo, hi = interval(body)
    inexact = body.type.is_inexact or body.type.kind == "number"
    return inexact and not short and not -1 <= lo <= hi <= 1


def is_safe_value(name: str, operand: int, value: float) -> bool:
    """Whether a constant operand keeps the operation and its partials finite."""
    at = (value, value)
    if name in ("hypot", "atan2"):
        return _not_zero(at)
    if name == "pow":
        return operand == 0 and value == 1
    region = _REGIONS.get(name)
    return region is not None and region(at, 0.125)


def constant_like(value: int, type: ScalarType) -> Const:
    """A constant for an operand of the type; an integer where that is not known: it takes the other arm's type."""
    if type.kind == "number":
        return Const(value, INT)
    return Const(float(value) if type.is_inexact else value, type)


# what operations make of the constants that masks put in
CONSTANTS: dict[str, Callable[..., float | None]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y if y else None,
    "neg": lambda x: -x,
    "abs": abs,
    "min": min,
    "max": max,
    "sqrt": lambda x: math.sqrt(x) if x >= 0 else None,
    "rsqrt": lambda x: 1 / math.sqrt(x) if x > 0 else None,
    "cbrt": lambda x: x if x in (0.0, 1.0) else None,
    "exp": lambda x: math.exp(x) if abs(x) < 80 else None,
    "log": lambda x: math.log(x) if x > 0 else None,
    "pow": lambda x, y: 1.0 if x == 1 else None,
}


# --- points ----------------------------------------------------------------------------------


def _at_zero(value: float) -> dict[float, float]:
    return {0.0: value}


# operand → value, where the value is finite and the derivative is not
_POINTS: dict[str, dict[float, float]] = {
    "sqrt": _at_zero(0.0),
    "cbrt": _at_zero(0.0),
    "asin": {1.0: math.pi / 2, -1.0: -math.pi / 2},
    "acos": {1.0: 0.0, -1.0: math.pi},
    "acosh": {1.0: 0.0},
}


def _points(node: Op) -> dict[float, float]:
    if node.name == "pow":
        y = node.args[1]
        # from 1 on the derivative is finite, but not that of the derivative
        root = isinstance(y, Const) and isinstance(y.value, float) and 0 < y.value < 2 and y.value != 1
        return _at_zero(0.0) if root else {}
    return _POINTS.get(node.name, {})


def _arms(x: Expr) -> tuple[Expr, float, Expr] | None:
    """``x`` as "the constant where the condition holds, else the other expression"."""
    match x:
        case Op(name="max" | "min" as name, args=(a, b), type=type) if isinstance(a, Const) != isinstance(b, Const):
            constant, other = (a, b) if isinstance(a, Const) else (b, a)
            value = _real(constant)
            if value is None or other.type != type:
                return None
            # a NaN is not the constant: it goes through
            return Op("le" if name == "max" else "ge", (other, constant), BOOL), value, other
        case Op(name="select", args=(c, a, b), type=type):
            value = _real(a)
            if value is not None and b.type == type:
                return c, value, b
            value = _real(b)
            return None if value is None or a.type != type else (simplify.negation(c), value, a)
        case Cast(type=type, arg=arg) if type.is_inexact and arg.type.is_inexact:
            return _through(_arms(arg), lambda h: h, lambda o: Cast(type, o))
        case Op(name="neg", args=(a,), type=type):
            return _through(_arms(a), lambda h: -h, lambda o: Op("neg", (o,), type))
        case Op(name="mul", args=(a, b), type=type) if a is b:
            return _through(_arms(a), lambda h: h * h, lambda o: Op("mul", (o, o), type))
        case Op(name="pow", args=(a, Const(value=2 | 2.0) as two), type=type):
            return _through(_arms(a), lambda h: h * h, lambda o: Op("pow", (o, two), type))
        case Op(name="add" | "sub" | "mul" | "div" as name, args=(a, b), type=type):
            if (k := _real(b)) is not None:
                right = k
                return _through(_arms(a), lambda h: _arithmetic(name, h, right), lambda o: Op(name, (o, b), type))
            if (k := _real(a)) is not None and name != "div":
                left = k
                return _through(_arms(b), lambda h: _arithmetic(name, left, h), lambda o: Op(name, (a, o), type))
            if isinstance(b, Param) and name in ("mul", "div"):
                return _through(_arms(a), _zero_only, lambda o: Op(name, (o, b), type))
            if isinstance(a, Param) and name == "mul":
                return _through(_arms(b), _zero_only, lambda o: Op(name, (a, o), type))
    return None


def _real(x: Expr) -> float | None:
    if isinstance(x, Const) and isinstance(x.value, int | float) and not isinstance(x.value, bool):
        return float(x.value)
    return None


def _arithmetic(name: str, x: float, y: float) -> float | None:
    if name == "div":
        return x / y if y else None
    return {"add": x + y, "sub": x - y, "mul": x * y}[name]


def _zero_only(h: float) -> float | None:
    return 0.0 if h == 0 else None


def _through(
    arms: tuple[Expr, float, Expr] | None, value: Callable[[float], float | None], other: Callable[[Expr], Expr]
) -> tuple[Expr, float, Expr] | None:
    if arms is None:
        return None
    moved = value(arms[1])
    return None if moved is None else (arms[0], moved, other(arms[2]))


def push_through(node: Expr) -> Expr:
    """``sqrt(max(x, 0))`` as ``0 if x <= 0 else sqrt(x)``: an operation at a constant where its derivative is infinite.

    The operand is a min, max or select one arm of which is such a constant, or a clamp of these; other nodes stay.
    """
    if not isinstance(node, Op):
        return node
    if node.name in ("hypot", "atan2"):
        return _push_both(node)
    points = _points(node)
    if not points:
        return node
    arms = _arms(node.args[0])
    if arms is None:
        return node
    condition, constant, other = arms
    plain = Op(node.name, (other, *node.args[1:]), node.type)
    inner = push_through(plain)
    if constant in points:
        return simplify.select(condition, _number(points[constant], node.type), inner, node.type)
    if inner is plain:
        return node
    at_constant = Op(node.name, (_number(constant, other.type), *node.args[1:]), node.type)
    return simplify.select(condition, at_constant, inner, node.type)


def _push_both(node: Op) -> Expr:
    first, second = _arms(node.args[0]), _arms(node.args[1])
    if first is None or second is None or first[0] is not second[0] or first[1] != 0 or second[1] != 0:
        return node
    inner = push_through(Op(node.name, (first[2], second[2]), node.type))
    return simplify.select(first[0], _number(0.0, node.type), inner, node.type)


def _number(value: float, type: ScalarType) -> Const:
    return Const(value, FLOAT if type.kind == "number" else type)


def at_origin(node: Op) -> Op:
    """``x**y`` with data for ``y`` and a safe base at the origin: at ``0**0`` the partial by x is ``0 * 0**-1`` to JAX,
    zero to the program, and so is the second one at ``0**1`` (where :func:`first_power` has the value)."""
    x, y = node.args
    if isinstance(y, Const) or _not_zero(interval(x)) or (isinstance(x, Op) and x.name == "select" and _is_one(x)):
        return node  # or done
    powers = [_equals(y, k) for k in _singular_powers(y)]
    if not powers:
        return node
    origin = simplify.conjunction(_equals(x, 0), simplify.disjunction(*powers))
    return Op("pow", (simplify.select(origin, constant_like(1, x.type), x, x.type), y), node.type)


def first_power(node: Op, made: Expr) -> Expr:
    """``made``, the power ``node`` with a safe base, as the base itself where the exponent is one."""
    x, y = node.args
    if 1 not in _singular_powers(y) or x.type != node.type:
        return made
    return simplify.select(_equals(y, 1), x, made, node.type)


def _singular_powers(y: Expr) -> tuple[int, ...]:
    lo, hi = interval(y)
    return tuple(k for k in (0, 1) if lo <= k <= hi)


def _is_one(select: Op) -> bool:
    return any(isinstance(a, Const) and a.value == 1 for a in select.args[1:])


def _equals(x: Expr, value: int) -> Expr:
    return Op("eq", (x, constant_like(value, x.type)), BOOL)
