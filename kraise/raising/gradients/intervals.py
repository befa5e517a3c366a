"""Bounds that values keep, and the conditions that they decide."""

from __future__ import annotations

import math
from collections.abc import Mapping, MutableMapping
from weakref import WeakKeyDictionary

from kraise.ir.equations import Axis, Cast, Const, Expr, Index, Op, Reduce, Shape
from kraise.ir.operations import TURNED
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import children, free_indices, topological
from kraise.raising.threads.launched import at_least_one

Interval = tuple[float, float]
_ZERO = Const(0, INT)
_ANY: Interval = (-math.inf, math.inf)
_intervals: WeakKeyDictionary[Expr, Interval] = WeakKeyDictionary()


def interval(expr: Expr) -> Interval:
    """Bounds that every value of the expression keeps, NaN aside; infinite where nothing is known."""
    if expr not in _intervals:
        for node in topological((expr,), lambda n: () if n in _intervals else children(n)):
            if node not in _intervals:
                _intervals[node] = _interval(node, _intervals)
    return _intervals[expr]


def interval_over(expr: Expr, axes: Mapping[str, Axis | None]) -> Interval:
    """:func:`interval` of an integer (or of one as a float) where its indices run over ``axes``."""
    inner = expr
    while isinstance(inner, Cast):
        inner = inner.arg
    if not inner.type.is_integer or not free_indices(inner):
        return interval(expr)
    known: dict[Expr, Interval] = {}
    for node in topological((expr,)):
        axis = axes.get(node.name) if isinstance(node, Index) else None
        if axis is not None and axis.step > 0:
            known[node] = interval(axis.lo)[0], interval(axis.hi)[1] - 1
        else:
            known[node] = _interval(node, known)
    return known[expr]


def interval_given(expr: Expr, given: Mapping[Expr, Interval]) -> Interval:
    """:func:`interval` where bounds of some values are given; what underflows in single precision is zero."""
    known = dict(given)
    for node in topological((expr,), lambda n: () if n in known else children(n)):
        if node not in known:
            lo, hi = _interval(node, known)
            known[node] = _flushed(lo), _flushed(hi)
    return known[expr]


def _flushed(bound: float) -> float:
    return 0.0 if abs(bound) < 1e-37 else bound


_OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}


def bounds_by(condition: Expr) -> tuple[Expr, Interval] | None:
    """The value that a condition compares with a constant, and its bounds where that holds (NaN aside)."""
    match condition:
        case Op(name="not", args=(Op(name=name, args=args),)) if name in _OPPOSITE:
            return bounds_by(Op(_OPPOSITE[name], args, BOOL))
        case Op(name=name, args=(Const() as bound, value)) if name in TURNED and not isinstance(value, Const):
            return bounds_by(Op(TURNED[name], (value, bound), BOOL))
        case Op(name="gt" | "ge" | "lt" | "le" as name, args=(value, Const(value=int() | float() as bound))):
            end = math.inf if name in ("gt", "ge") else -math.inf
            least = math.nextafter(bound, end) if name in ("gt", "lt") else float(bound)
            return value, ((least, end) if end > 0 else (end, least))
    return None


def multiplied(a: Interval, b: Interval) -> Interval:
    """Bounds of a product."""
    corners = [0.0 if 0.0 in (x, y) else x * y for x in a for y in b]
    return min(corners), max(corners)


def _exp(x: float) -> float:
    # what underflows in single precision is not above zero
    return 0.0 if x < -80 else math.inf if x > 700 else math.exp(x)


def _interval(node: Expr, known: MutableMapping[Expr, Interval]) -> Interval:
    unsigned = node.type.kind == "uint"
    match node:
        case Const(value=bool() | int() | float() as value):
            return _ANY if math.isnan(value) else (float(value), float(value))
        case Shape():
            return 0.0, math.inf
        case Cast(type=type, arg=arg):
            lo, hi = known[arg]
            if type.is_inexact or (type.kind == "int" and type.bits is None):
                return (lo, hi) if type.is_inexact else (_trunc(lo), _trunc(hi))
        case Reduce(op="add", body=body) if known[body][0] >= 0:
            return 0.0, math.inf
        case Reduce(op="min" | "max" as op, axes=axes, body=body, where=where):
            lo, hi = known[body]  # of no element the extremum is the infinity that all others are beyond
            some = where is None and all(a.lo == _ZERO and at_least_one(a.hi) for a in axes)
            return (lo if some or op == "min" else -math.inf), (hi if some or op == "max" else math.inf)
        case Op(name=name, args=args) if not (unsigned and name in ("sub", "neg", "invert")):
            found = _operation(name, args, [known[a] for a in args])
            if not any(math.isnan(bound) for bound in found):
                return found
    return (0.0, math.inf) if unsigned else _ANY


def _trunc(x: float) -> float:
    return x if math.isinf(x) else float(math.trunc(x))


def _operation(name: str, args: tuple[Expr, ...], at: list[Interval]) -> Interval:
    lo, hi = at[0]
    match name:
        case "add":
            return lo + at[1][0], hi + at[1][1]
        case "sub":
            return lo - at[1][1], hi - at[1][0]
        case "neg":
            return -hi, -lo
        case "abs":
            return max(0.0, lo, -hi), max(abs(lo), abs(hi))
        case "mul" if args[0] is args[1]:
            return multiplied(_operation("abs", args, at), _operation("abs", args, at))
        case "mul":
            return multiplied(at[0], at[1])
        case "fma":
            product = _operation("mul", args[:2], at[:2])
            return product[0] + at[2][0], product[1] + at[2][1]
        case "div" if at[1][0] > 0 and lo >= 0:
            return 0.0 if math.isinf(at[1][1]) else lo / at[1][1], hi / at[1][0]
        case "pow" if lo >= 0 or (isinstance(args[1], Const) and args[1].value in (2, 4, 6, 8)):
            return 0.0, math.inf
        case "min":
            return min(lo, at[1][0]), min(hi, at[1][1])
        case "max":
            return max(lo, at[1][0]), max(hi, at[1][1])
        case "select":
            return min(at[1][0], at[2][0]), max(at[1][1], at[2][1])
        case "sqrt":
            return math.sqrt(max(lo, 0.0)), math.sqrt(max(hi, 0.0))
        case "exp":
            return _exp(lo), _exp(hi)
        case "hypot" | "exp2" | "exp10":
            return 0.0, math.inf
        case "cosh":
            return 1.0, math.inf
        case "sin" | "cos" | "tanh" | "erf" | "sign":
            return -1.0, 1.0
        case "erfc":
            return 0.0, 2.0
        case "atan":
            return -1.6, 1.6
        case "atan2":
            return -3.2, 3.2
        case "floor" | "ceil" | "round" | "trunc" | "round_away":
            return (lo if math.isinf(lo) else math.floor(lo)), (hi if math.isinf(hi) else math.ceil(hi))
    return _ANY


def verdict(condition: Expr) -> bool | None:
    """Whether the bounds of its operands decide a condition; None where they do not."""
    match condition:
        case Const(value=value):
            return bool(value)
        case Op(name="not", args=(inner,)):
            found = verdict(inner)
            return None if found is None else not found
        case Op(name="and" | "or" as name, args=(a, b)):
            parts = (verdict(a), verdict(b))
            zero = name == "or"
            return zero if zero in parts else None if None in parts else not zero
        case Op(name="gt" | "ge" as name, args=(a, b)):
            return verdict(Op(TURNED[name], (b, a), BOOL))
        case Op(name="lt" | "le" | "eq" | "ne" as name, args=(a, b)):
            (lo, hi), (low, high) = interval(a), interval(b)
            apart = hi < low or high < lo
            match name:
                case "lt":
                    return True if hi < low else False if high <= lo else None
                case "le":
                    return True if hi <= low else False if high < lo else None
            same = lo == hi == low == high
            return (name == "ne") if apart else (name == "eq") if same else None
    return None
