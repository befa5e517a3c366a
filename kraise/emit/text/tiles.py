"""Sizes that are whole tiles, as the checks of a function say: ``32 * (pitch // 32)`` is ``pitch`` there."""

from __future__ import annotations

from kraise.emit.text.linear import Linear, linear
from kraise.ir import equations as eq
from kraise.ir.types import INT


def whole(kernel: eq.Kernel, form: Linear) -> Linear:
    """The sum with the multiples of quotients that leave no rest as what was divided."""
    for atom, c in form.terms:
        factors = _factors(atom)
        for at, factor in enumerate(factors):
            match factor:
                case eq.Op(name="floordiv", args=(size, eq.Const(value=int(by)))) if by > 0 and c % by == 0:
                    if any(_says(check, size, by) for check, _ in kernel.checks):
                        one = linear(_product((*factors[:at], size, *factors[at + 1 :])))
                        form = form.without(atom) + one.times(c // by)
                        break
    return form


def _factors(e: eq.Expr) -> tuple[eq.Expr, ...]:
    match e:
        case eq.Op(name="mul", args=(a, b)):
            return (*_factors(a), *_factors(b))
    return (e,)


def _product(factors: tuple[eq.Expr, ...]) -> eq.Expr:
    out = factors[0]
    for f in factors[1:]:
        out = eq.Op("mul", (out, f), INT)
    return out


def _says(check: eq.Expr, size: eq.Expr, by: int) -> bool:
    """Whether a condition is that ``size`` is a multiple of ``by``."""
    match check:
        case eq.Op(name="eq", args=(eq.Op(name="mod", args=(a, eq.Const(value=int(n)))), eq.Const(value=0))):
            return n > 0 and n % by == 0 and linear(a).same(linear(size))
    return False


__all__ = ["whole"]
