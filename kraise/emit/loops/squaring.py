"""A power by squaring is one power: the loop over the bits of ``n`` in which ``result`` takes up ``base`` where the bit
is set, and ``base`` becomes its square, is ``base ** max(0, n)``.

XLA multiplies in the same order (``jax.lax.integer_pow``), so the values are equal to the bit, and the derivative is
one power more, not the loop's states backwards (measured on a million numbers: 0.6 of the gradient's time). Side
conditions: the loop carries nothing else, ``result`` begins as one, and nothing looks at the last ``base``.
"""

from __future__ import annotations

from kraise.emit.context import Assign
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.ir import equations as eq


def as_power(low: Lowering, stmt: eq.Fold) -> bool:
    """Emits the power in place of such a loop; False for any other one."""
    number = _exponent(stmt)
    if number is None or len(stmt.scalars) != 2 or not low.ctx.is_static(number):
        return False
    for result, base in (stmt.scalars, stmt.scalars[::-1]):
        inside = [eq.CarryIn(stmt.name, c.name, c.axes, c.type) for c in (result, base)]
        one = isinstance(result.init, eq.Const) and result.init.value == 1 and not result.init.name
        if not one or (stmt.name, base.name) in low.ctx.wanted or not _doubled(inside[1], base.update):
            continue
        if result.type == base.type and result.axes == base.axes and _taken_up(stmt, number, inside, result.update):
            value = low.lower(base.init, base.axes)
            if value.axes != base.axes:
                return False
            name = low.ctx.names.fresh(result.name)
            low.ctx.emit(Assign(name, py.Bin("**", value.py, low.ctx.static(number)), stmt.span))
            low.ctx.folded[("out", stmt.name, result.name)] = (name, result.axes)
            low.ctx.fold_depth[stmt.name] = len(low.ctx.blocks) - 1
            return True
    return False


def _exponent(stmt: eq.Fold) -> eq.Expr | None:
    """The number whose bits the loop goes through, from the lowest one on; it is not negative."""
    if stmt.axis is None or stmt.arrays or stmt.body or stmt.outputs or stmt.condition or stmt.reverse or stmt.mapped:
        return None
    match stmt.axis:
        case eq.Axis(lo=eq.Const(value=0), hi=eq.Op(name="bit_length", args=(number,)), step=1):
            return number
    return None


def _doubled(base: eq.Expr, update: eq.Expr) -> bool:
    return isinstance(update, eq.Op) and update.name == "mul" and update.args == (base, base)


def _taken_up(stmt: eq.Fold, number: eq.Expr, carried: list[eq.CarryIn], update: eq.Expr) -> bool:
    """Whether an update is ``result * base if bit k of the number is set else result``."""
    result, base = carried
    match update:
        case eq.Op(name="select", args=(test, eq.Op(name="mul", args=product), kept)) if kept == result:
            pass
        case _:
            return False
    match test:
        case eq.Op(name="ne", args=(eq.Op(name="and_", args=(shifted, eq.Const(value=1))), eq.Const(value=0))):
            pass
        case _:
            return False
    match shifted:
        case eq.Op(name="shr", args=(whole, eq.Index(name=index))) if stmt.axis is not None:
            own = index == stmt.axis.name and (whole == number or _from_zero_on(whole, number))
            return own and product in ((result, base), (base, result))
    return False


def _from_zero_on(whole: eq.Expr, number: eq.Expr) -> bool:
    """Whether ``number`` is ``max(0, whole)``: below zero there is no round."""
    match number:
        case eq.Op(name="max", args=(eq.Const(value=0), a)) | eq.Op(name="max", args=(a, eq.Const(value=0))):
            return a == whole
    return False


__all__ = ["as_power"]
