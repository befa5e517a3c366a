"""Lanes that a loop runs and nobody reads: their state stays as it came in, instead of growing beyond all numbers.

In ``if x[i] > 0: <Newton's rounds for v>; y[i] = v`` every lane runs the rounds; where ``x[i]`` is negative ``v``
squares itself in each of them. The result is not used, but the zero that comes back in reverse meets an inf: NaN. So a
carried scalar whose rounds multiply it with something that has a derivative (or exponentiate it, …) keeps its value
in the lanes where nothing asks for it, neither after the loop nor in a condition or an integer within it.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.ir.equations import CarryIn, Cast, Const, Expr, Fold, Kernel, Op, Reduce, ScalarCarry, Scan, Stmt
from kraise.ir.walk import topological
from kraise.raising.gradients.conditions import ALWAYS, NEVER
from kraise.raising.gradients.usage import Usage, carries_derivative, value_children
from kraise.raising.run import simplify

# what grows no faster than its operands, with partials that are bounded
_TAME = frozenset(
    ("add", "sub", "neg", "select", "min", "max", "abs", "sign", "floor", "ceil", "trunc", "round", "round_away")
    + ("sin", "cos", "tanh", "atan", "erf", "erfc", "asinh", "copysign", "real", "imag", "conj", "complex")
    + ("degrees", "radians")
)


def frozen(kernel: Kernel) -> Kernel:
    """The kernel whose loops leave the state alone in lanes that are not read."""
    if not any(isinstance(s, Fold) for s in kernel.body):
        return kernel
    usage = Usage(kernel)
    if all(d in (ALWAYS, NEVER) for d in usage.entered.values()):
        return kernel
    return replace(kernel, body=_statements(kernel.body, usage))


def _statements(body: tuple[Stmt, ...], usage: Usage) -> tuple[Stmt, ...]:
    return tuple(
        replace(s, body=_statements(s.body, usage), scalars=tuple(_carry(s.name, c, usage) for c in s.scalars))
        if isinstance(s, Fold)
        else s
        for s in body
    )


def _carry(fold: str, s: ScalarCarry, usage: Usage) -> ScalarCarry:
    demand = usage.entered[fold, s.name]
    if demand in (ALWAYS, NEVER) or not carries_derivative(s.type) or not _grows(fold, s.update):
        return s
    carry = CarryIn(fold, s.name, s.axes, s.type)
    return replace(s, update=simplify.select(usage.conditions.expression(demand), s.update, carry, s.type))


def _grows(fold: str, update: Expr) -> bool:
    """Whether the carried values meet an operation whose result or partials may outgrow them."""
    moving: set[Expr] = set()
    for node in topological((update,), value_children):
        below = value_children(node)
        if not (isinstance(node, CarryIn) and node.fold == fold) and not any(b in moving for b in below):
            continue
        moving.add(node)
        match node:
            case Op(name="mul", args=(a, b)) if isinstance(a, Const) or isinstance(b, Const):
                pass
            case Op(name="div", args=(_, Const())):
                pass
            case Op(name=name) if name in _TAME:
                pass
            case CarryIn() | Cast() | Reduce(op="add" | "min" | "max") | Scan(op="add" | "min" | "max"):
                pass
            case _:
                return True
    return False
