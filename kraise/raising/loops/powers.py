"""Counted loops over the exponents of two, as while loops over the powers (Kernel IR to Kernel IR).

``for k in range(3): if t % 2 ** (k + 1) == 0: s[t] += s[t + 2 ** k]`` is ``w = 1; while w < 8: if t % (2 * w) == 0:
s[t] += s[t + w]; w = 2 * w``, in which a tree is seen as one. The side conditions: the exponents are numbers that rise
by one, the body reads the variable as an exponent of two only (plus or minus a number), nothing reads it afterwards.
"""

from __future__ import annotations

from typing import Any

from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten
from kraise.ir.types import BOOL, INT
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned
from kraise.raising.run.state import State
from kraise.raising.run.values import value

_MOST = 30  # exponents: the powers fit 32 bits


def over_powers(cx: Context, st: State, s: k.For, live: frozenset[str]) -> tuple[k.Assign, k.While] | None:
    """The first power (1) and the loop over the powers; None if ``s`` is no such loop."""
    if s.orelse or s.var in live or s.var in assigned(s.body):
        return None
    ends = [value(cx, st.copy(), e) for e in (s.start, s.stop, s.step)]
    numbers = [e.value for e in ends if isinstance(e, eq.Const) and type(e.value) is int]
    if len(numbers) < 3 or numbers[2] != 1 or not 0 <= numbers[0] < numbers[1] < _MOST:
        return None
    least, stop, _ = numbers
    w = k.Var(f"${s.var}$power", INT)

    def visit(x: Any) -> k.Expr | None:
        match x:
            case k.Var(name=s.var):
                raise _OtherUse
            case k.Op(name="pow", args=(k.Const(value=2), e)) if (n := _more(e, s.var)) is not None:
                return _power(w, least + n)
            case k.Op(name="shl", args=(k.Const(value=int() as c), e)) if (n := _more(e, s.var)) is not None:
                return k.Op("mul", (k.Const(c, INT), _power(w, least + n)), INT)
            case k.Cast(type=t, arg=k.Op(name="pow", args=(k.Const(value=2.0), e))) if t.is_integer:
                n = _more(e, s.var)  # exact in floating point, too
                return None if n is None else _power(w, least + n)
        return None

    try:
        body = rewritten(s.body, visit)
    except _OtherUse:
        return None
    first = k.Assign(w.name, k.Const(1, INT), INT, span=s.span)
    twice = k.Assign(w.name, k.Op("mul", (k.Const(2, INT), w), INT), INT, span=s.span)
    going = k.Op("lt", (w, k.Const(1 << (stop - least), INT)), BOOL)
    return first, k.While(going, (*body, twice), span=s.span)


class _OtherUse(Exception):
    """The variable is read as something else than an exponent of two."""


def _power(w: k.Var, exponent: int) -> k.Expr:
    """``w * 2 ** exponent``.

    Raises:
        _OtherUse: it is no whole number in the first round.
    """
    if exponent < 0:
        raise _OtherUse
    return w if exponent == 0 else k.Op("mul", (k.Const(1 << exponent, INT), w), INT)


def _more(e: k.Expr, var: str) -> int | None:
    """The number n of ``var + n``."""
    match e:
        case k.Cast(arg=a):
            return _more(a, var)
        case k.Var(name=name):
            return 0 if name == var else None
        case k.Op(name="add", args=(a, k.Const(value=int() as n)) | (k.Const(value=int() as n), a)):
            return None if (m := _more(a, var)) is None else m + n
        case k.Op(name="sub", args=(a, k.Const(value=int() as n))):
            return None if (m := _more(a, var)) is None else m - n
    return None


__all__ = ["over_powers"]
