"""Points at which an operation is computed, and nothing depends on its slope, which is infinite there.

An extremum passes values over. In ``max(sqrt(x), 0.001)`` the scalar program has the derivative zero at ``x = 0``; the
text has the zero that the maximum hands back, times the infinite slope of the root: NaN. So it is for ``x / max(norm,
eps)``, the farthest of points of which one is the point itself, ``min(1 / x, most)``. The condition "is selected" would
need the value first, and twice; but only the point matters at which the slope is infinite. There the operation has its
value as a constant: ``select(x == 0, 0, sqrt(select(x == 0, 1, x)))``. Where the extremum does select such a point,
the scalar program has no derivative either.

And where all pairs are summed, the distance of each point to itself, ``sqrt((x[i] - x[j])**2)`` at ``j = i``, is the
constant zero whatever ``x`` is: its derivative is zero, and infinity times zero to JAX.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations
from weakref import WeakKeyDictionary

from kraise.ir.equations import Cast, Const, Expr, Index, Op, Param, Read, Reduce, Scan, Stmt, Write
from kraise.ir.types import BOOL
from kraise.ir.walk import children, free_indices, statements, substitute, topological
from kraise.raising.gradients.conditions import Conditions, Demand
from kraise.raising.gradients.hazards import constant_like
from kraise.raising.gradients.intervals import interval
from kraise.raising.gradients.usage import Env, value_children
from kraise.raising.run import simplify

_EXTREMA = ("min", "max")
_EXPONENTIALS = ("exp", "exp2", "exp10", "expm1")


class Points:
    """The operations of a kernel whose slope does not count where it is infinite: which they are, by their uses."""

    def __init__(self, body: Iterable[Stmt], orders: list[list[Expr]]) -> None:
        compete = _competing(body)
        self.picked: frozenset[Expr] = frozenset()
        self.outgrown: frozenset[Expr] = frozenset()
        for order in orders:  # each with operands first
            self.picked |= _passed_over(order, compete) | _switched(order)
            self.outgrown |= _outgrown(order, compete)

    def holds(self, node: Op, demand: Demand, axes: Env, conditions: Conditions) -> bool:
        """Whether ``node`` is one of them; what no float goes into has no slope."""
        if not _smooth(node):
            return False
        if node.name in _EXPONENTIALS:
            return node in self.outgrown
        return node in self.picked or _with_itself(node, demand, axes, conditions)


def _smooth(node: Op) -> bool:
    """Whether a value depends on floats but for constants: ``rsqrt(float(n))`` of a size does not."""
    below = topological((node,), lambda n: () if _discrete(n) else children(n))
    return not all(_discrete(n) or isinstance(n, Const | Op | Cast | Reduce) for n in below)


def _competing(body: Iterable[Stmt]) -> frozenset[Expr]:
    """The values that statements write where the cell is the least or the largest of them."""
    return frozenset(s.value for s in statements(tuple(body)) if isinstance(s, Write) and s.accumulate in _EXTREMA)


def _passed_over(order: list[Expr], roots: frozenset[Expr]) -> frozenset[Expr]:
    """The values below an extremum, of values in ``order`` (operands first), or below one of ``roots``."""
    found: set[Expr] = set()
    for node in reversed(order):
        if node in found or node in roots or _picks(node):
            found.update(value_children(node))
    return frozenset(found | roots)


def _switched(order: list[Expr]) -> frozenset[Expr]:
    """The finite values below a product with a flag, a number that may be zero and has no derivative:
    ``(i != j) * d``."""
    found: set[Expr] = set()
    for node in reversed(order):
        if node in found:
            found.update(value_children(node))
        elif isinstance(node, Op) and node.name == "mul" and any(map(_flag, node.args)):
            found.update(a for a in node.args if not _flag(a))
    return frozenset(n for n in found if isinstance(n, Op) and _finite(n))


_flags: WeakKeyDictionary[Expr, bool] = WeakKeyDictionary()


def _flag(factor: Expr) -> bool:
    """Whether a factor is zero in some lanes whatever the floats are: a flag, a sign, an integer that may be zero, a
    product with one of these."""
    if factor not in _flags:
        for node in topological((factor,), lambda n: () if n in _flags or _discrete(n) else children(n)):
            _flags[node] = _is_flag(node)
    return _flags[factor]


def _discrete(node: Expr) -> bool:
    return node.type.kind == "bool" or node.type.is_integer


def _is_flag(node: Expr) -> bool:
    """:func:`_flag` where that of the operands is known."""
    if _discrete(node):
        least, most = interval(node)
        varies = any(isinstance(n, Index | Read) for n in topological((node,)))
        return node.type.kind == "bool" or (varies and least <= 0 <= most)
    match node:
        case Op(name="mul", args=args):
            return any(_flags[a] for a in args)
        case Op(name="neg", args=(arg,)) | Op(name="div", args=(arg, _)) | Cast(arg=arg):
            return _flags[arg]
        case Op(name="sign"):
            return True
        case Op(name="select", args=(_, a, b)):
            return _chosen(a) and _chosen(b) and 0 in (getattr(a, "value", 0), getattr(b, "value", 0))
        case Op(name="add" | "sub", args=(a, b)):
            return _flags[a] and _flags[b]
    return False


def _chosen(arm: Expr) -> bool:
    return isinstance(arm, Const) or (isinstance(arm, Op) and arm.name in ("select", "neg") and _flag(arm))


def _finite(node: Op) -> bool:
    """Whether an operation has a value where its slope is infinite."""
    match node:
        case Op(name="pow", args=(_, power)):
            return power.type.is_inexact and (_number(power) or 0) > 0
    return node.name in ("sqrt", "cbrt", "hypot", "asin", "acos")


def _outgrown(order: list[Expr], roots: frozenset[Expr]) -> frozenset[Expr]:
    """The values that an extremum compares but for numbers added and multiplied: what may grow beyond all others."""
    found: set[Expr] = set(roots)
    for node in reversed(order):
        if _picks(node):
            found.update(value_children(node))
        elif node in found and isinstance(node, Op) and node.name in ("add", "sub", "mul", "neg"):
            own = [a for a in node.args if not isinstance(a, Const | Param)]
            found.update(own if len(own) == 1 else ())
    return frozenset(found)


def _picks(node: Expr) -> bool:
    match node:
        case Op(name=name):
            return name in _EXTREMA
        case Reduce(op=op) | Scan(op=op):
            return op in _EXTREMA
    return False


def _number(power: Expr) -> float | None:
    """The value of a constant, also of one that is written as a quotient (``1.0 / 3.0``)."""
    least, most = interval(power)
    return least if least == most else None


def constant_at_point(node: Op) -> Expr:
    """The operation as a constant where its slope is infinite, with the same value everywhere; itself if that is
    nowhere."""
    match node:
        case Op(name="sqrt" | "cbrt", args=(x,)):
            return _guarded(node, _equal(x, 0), 0.0, (0,))
        case Op(name="rsqrt", args=(x,)):
            return _guarded(node, _equal(x, 0), math.inf, (0,))
        case Op(name="log" | "log2" | "log10", args=(x,)):
            return _guarded(node, _equal(x, 0), -math.inf, (0,))
        case Op(name="log1p", args=(x,)):
            return _guarded(node, _equal(x, -1), -math.inf, (0,))
        case Op(name="pow", args=(x, power)) if (number := _number(power)) is not None:
            return _guarded(node, _equal(x, 0), 0.0 if number > 0 else None, (0,))
        case Op(name="div", args=(x, y)) if free_indices(y) or _computed(y):
            positive = isinstance(x, Const) and x.value.real > 0 and interval(y)[0] >= 0
            return _guarded(node, _equal(y, 0), math.inf if positive else None, (1,))
        case Op(name="asin" | "acos", args=(x,)):
            return _guarded(node, _equal(Op("abs", (x,), x.type), 1), None, (0,), 0)
        case Op(name=name) if name in _EXPONENTIALS:
            return _guarded(node, Op("eq", (node, Const(math.inf, node.type)), BOOL), math.inf, (0,), 0)
        case Op(name="hypot", args=(x, y)):
            return _guarded(node, simplify.conjunction(_equal(x, 0), _equal(y, 0)), 0.0, (0,))
    return node


def zero_from_zero(root: Expr) -> Expr:
    """A square root that is the constant zero where its number is not above zero: at 0, or where nobody looks."""
    assert isinstance(root, Op) and root.name == "sqrt"
    (x,) = root.args
    return _guarded(root, Op("le", (x, constant_like(0, x.type)), BOOL), 0.0, (0,))


def _computed(y: Expr) -> bool:
    """Whether a number is made of others that are data: one that is given as it is (a spacing) is taken not to be 0."""
    data = (n for n in topological((y,)) if isinstance(n, Read | Param))
    return isinstance(y, Op) and any(not n.type.is_integer for n in data)


def _with_itself(node: Expr, demand: Demand, axes: Env, conditions: Conditions) -> bool:
    """Whether a root's operand is zero wherever two of its indices agree, whatever the arrays hold, and they may."""
    match node:
        case Op(name="sqrt" | "cbrt" | "hypot" | "pow", args=args) if _finite(node):
            args = args[:1] if node.name == "pow" else args
        case _:
            return False
    names = sorted(frozenset().union(*(free_indices(a) for a in args)))
    for one, other in combinations(names, 2):
        first, second = axes.get(one), axes.get(other)
        if first is None or second is None:
            continue
        bounds = (first.lo, first.hi, second.lo, second.hi)
        if any({one, other} & free_indices(b) for b in bounds):
            continue  # a triangle: they differ
        places = {n: n for a in args for n in topological((a,)) if isinstance(n, Index) and n.name in (one, other)}
        to = next(n for n in places if n.name == one)
        same: dict[Expr, Expr] = {n: to for n in places if n.name == other and n.type == to.type}
        if not same or not all(_vanishes(substitute(a, same)) for a in args):
            continue
        if any(not any(_never(substitute(conditions.shown(lit), same)) for lit in c) for c in demand):
            return True
    return False


def _vanishes(root: Expr) -> bool:
    """Whether a value is zero whatever the arrays hold."""
    zero: dict[Expr, bool] = {}
    for node in topological((root,), value_children):
        match node:
            case Const(value=value):
                zero[node] = value == 0
            case Op(name="sub", args=(a, b)):
                zero[node] = a is b or (zero.get(a, False) and zero.get(b, False))
            case Op(name="add" | "select" | "hypot", args=(*_, a, b)):
                zero[node] = zero.get(a, False) and zero.get(b, False)
            case Op(name="mul", args=(a, b)):
                zero[node] = zero.get(a, False) or zero.get(b, False)
            case Op(name="fma", args=(a, b, c)):
                zero[node] = (zero.get(a, False) or zero.get(b, False)) and zero.get(c, False)
            case Op(name="pow", args=(a, power)):
                zero[node] = (_number(power) or 0) > 0 and zero.get(a, False)
            case Op(name="neg" | "abs" | "sqrt", args=(a,)) | Op(name="div", args=(a, _)) | Cast(arg=a):
                zero[node] = zero.get(a, False)
            case Reduce(op="add", body=body):
                zero[node] = zero.get(body, False)
            case _:
                zero[node] = False
    return zero[root]


def _never(condition: Expr) -> bool:
    """Whether a condition fails by its spelling: it asks whether a value differs from itself."""
    match condition:
        case Op(name="ne" | "lt" | "gt", args=(a, b)):
            return a is b
        case Op(name="not", args=(Op(name="eq" | "le" | "ge", args=(a, b)),)):
            return a is b
    return isinstance(condition, Const) and not condition.value


def _equal(x: Expr, value: int) -> Expr:
    return Op("eq", (x, constant_like(value, x.type)), BOOL)


def _guarded(node: Op, point: Expr, value: float | None, operands: tuple[int, ...], safe: int = 1) -> Expr:
    """``node`` with a safe operand except at the point, where it is ``value`` (None: its own value, as a constant)."""
    args = list(node.args)
    for k in operands:
        # as it is: a mask within stays one, with its own padding
        args[k] = Op("select", (point, constant_like(safe, args[k].type), args[k]), args[k].type)
    at = Op("stop_gradient", (node,), node.type) if value is None else Const(value, node.type)
    return simplify.select(point, at, Op(node.name, tuple(args), node.type), node.type)
