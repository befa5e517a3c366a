"""Counted loops over the exponents of two, as while loops over the powers (Kernel IR to Kernel IR).

``for k in range(3): if t % 2 ** (k + 1) == 0: s[t] += s[t + 2 ** k]`` is ``w = 1; while w < 8: if t % (2 * w) == 0: s[t]
+= s[t + w]; w = 2 * w``, in which a tree is seen as one. The side conditions: the exponents are numbers, they rise by
one, the body reads the variable as an exponent of two only (plus or minus a number), and nothing reads it afterwards.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from kraise.ir import kernel as k
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT, ScalarType
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned
from kraise.raising.run.state import State
from kraise.raising.run.values import value

_MOST = 30  # exponents: the powers fit 32 bits


def over_powers(cx: Context, st: State, s: k.For, live: frozenset[str]) -> tuple[k.Assign, k.While] | None:
    """The first power and the loop over the powers; None if ``s`` is no such loop."""
    if s.orelse or s.var in live or s.var in assigned(s.body):
        return None
    ends = [value(cx, st.copy(), e) for e in (s.start, s.stop, s.step)]
    numbers = [e.value for e in ends if isinstance(e, eq.Const) and type(e.value) is int]
    if len(numbers) < 3 or numbers[2] != 1 or not 0 <= numbers[0] < numbers[1] < _MOST:
        return None
    w = k.Var(f"${s.var}$power", INT)
    try:
        body = _rewritten(s.body, s.var, w, numbers[0])
    except _OtherUse:
        return None
    first = k.Assign(w.name, k.Const(1 << numbers[0], INT), INT, span=s.span)
    twice = k.Assign(w.name, k.Op("mul", (k.Const(2, INT), w), INT), INT, span=s.span)
    going = k.Op("lt", (w, k.Const(1 << numbers[1], INT)), BOOL)
    return first, k.While(going, (*body, twice), span=s.span)


class _OtherUse(Exception):
    """The variable is read as something else than an exponent of two."""


def _rewritten(x: Any, var: str, w: k.Var, least: int) -> Any:
    """``x`` with the power in place of two to the variable.

    Raises:
        _OtherUse: the variable occurs otherwise.
    """
    if isinstance(x, tuple):
        return tuple(_rewritten(i, var, w, least) for i in x)
    if not is_dataclass(x) or isinstance(x, ScalarType | type):
        return x
    if isinstance(x, k.Var) and x.name == var:
        raise _OtherUse
    if isinstance(x, k.Op) and x.name in ("pow", "shl") and isinstance(x.args[0], k.Const):
        base, exponent = x.args[0].value, _more(x.args[1], var)
        fits = base == 2 if x.name == "pow" else type(base) is int and base > 0
        if exponent is not None and fits and least + exponent >= 0:
            factor = 1 if x.name == "pow" else int(base)  # type: ignore[call-overload]
            if exponent < 0:
                return k.Op("floordiv", (k.Op("mul", (k.Const(factor, INT), w), INT), k.Const(1 << -exponent, INT)), INT)
            factor <<= exponent
            return w if factor == 1 else k.Op("mul", (k.Const(factor, INT), w), INT)
    changes = {
        f.name: _rewritten(getattr(x, f.name), var, w, least) for f in fields(x) if f.name not in ("span", "type")
    }
    return replace(x, **changes)


def _more(e: k.Expr, var: str) -> int | None:
    """The number n of ``var + n``."""
    match e:
        case k.Cast(arg=a, type=t) if t.is_integer:
            return _more(a, var)
        case k.Var(name=name):
            return 0 if name == var else None
        case k.Op(name="add", args=(a, k.Const(value=int() as n)) | (k.Const(value=int() as n), a)):
            return None if (m := _more(a, var)) is None else m + n
        case k.Op(name="sub", args=(a, k.Const(value=int() as n))):
            return None if (m := _more(a, var)) is None else m - n
    return None


__all__ = ["over_powers"]
