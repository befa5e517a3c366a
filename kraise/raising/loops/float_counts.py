"""While loops that a floating-point number counts, as counted loops (Kernel IR to Kernel IR).

``t = 0.0; while t < 1.0: …; t += 0.1`` has as many rounds as the source's own arithmetic gives it: 11 in double
precision, 10 in single. They are counted here, in the precision of the source (a Python number is a double), so that
the emitted loop has them whatever the precision it computes in. Side conditions: the number starts from a constant, a
constant bounds it, and every round that another one follows moves it once, by what constants say.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from functools import partial
from typing import Any

from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT, ScalarType
from kraise.raising.loops.counted import NEGATED, TURNED, Counted, all_of, conjuncts_of, flag_of, update_of
from kraise.raising.run.liveness import reads
from kraise.raising.run.state import State

MOST = 1 << 16  # rounds
ZERO, ONE = k.Const(0, INT), k.Const(1, INT)
TRUE, FALSE = k.Const(True, BOOL), k.Const(False, BOOL)
_TESTS: dict[str, Callable[[Any, Any], Any]] = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
_STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
}  # fmt: skip


class _Unknown(Exception):
    """A value that constants do not give."""


def float_counted(st: State, s: k.While, flag: str) -> Counted | None:
    """``s`` as a counted loop, or None. Its exits must be structured; ``flag`` is a name that nothing else uses."""
    conjuncts = [c for c in conjuncts_of(s.condition) if c != TRUE]
    flags = [c for c in conjuncts if flag_of(c) is not None]
    names = frozenset(f for c in flags if (f := flag_of(c)) is not None)
    for c in conjuncts:
        found = None if c in flags else _rounds(st, c, s, names)
        if found is None:
            continue
        rest = [x for x in conjuncts if x is not c and x not in flags]
        if s.test_last and (rest or flags):
            return None
        return _made(s, found, flags, rest, flag)
    return None


def _rounds(st: State, c: k.Expr, s: k.While, flags: frozenset[str]) -> int | None:
    """After how many rounds the number that ``c`` bounds by a constant is beyond it."""
    if isinstance(c, k.Op) and c.name == "not" and isinstance(c.args[0], k.Op) and c.args[0].name in NEGATED:
        c = k.Op(NEGATED[c.args[0].name], c.args[0].args, BOOL)  # of constants: there is no NaN
    if not isinstance(c, k.Op) or c.name not in _TESTS:
        return None
    for how, (a, b) in ((c.name, c.args), (TURNED[c.name], c.args[::-1])):
        counter = a.arg if isinstance(a, k.Cast) and a.type.is_inexact else a
        if not isinstance(counter, k.Var) or not _real(counter.type):
            continue
        update, first = update_of(counter.name, s.body, flags), st.env.get(counter.name)
        while isinstance(first, eq.Cast):
            first = first.arg
        if update is None or reads(update) != {counter.name} or not isinstance(first, eq.Const):
            continue
        count = _counted(counter, first.value, partial(_goes_on, how, a, b, counter.name), update, s)
        if count is not None:
            return count
    return None


def _counted(counter: k.Var, first: Any, goes_on: Callable[[Any], Any], update: k.Expr, s: k.While) -> int | None:
    count = 0
    try:
        now = _of_type(first, counter.type)
        while (s.test_last and not count) or goes_on(now):
            now, count = _of_type(_value(update, {counter.name: now}), counter.type), count + 1
            if count > MOST:
                return None
    except (_Unknown, OverflowError, ZeroDivisionError):
        return None
    return count


def _goes_on(how: str, a: k.Expr, b: k.Expr, counter: str, now: Any) -> bool:
    return bool(_TESTS[how](_value(a, {counter: now}), _value(b, {})))


def _real(t: ScalarType) -> bool:
    return t.kind in ("float", "number")


def _of_type(value: Any, t: ScalarType) -> Any:
    if not _real(t) or isinstance(value, complex):
        raise _Unknown
    # a sum, difference, product or quotient in double precision, rounded again, is the narrow type's own
    narrow = {32: "f", 16: "e"}.get(t.bits or 64)
    return float(value) if narrow is None else struct.unpack(narrow, struct.pack(narrow, value))[0]


def _value(e: k.Expr, known: dict[str, Any]) -> Any:
    """The value of an expression of constants and what is ``known``, in the precision that its types say."""
    match e:
        case k.Const(value=v):
            return v if isinstance(v, int) else _of_type(v, e.type)
        case k.Var(name=name) if name in known:
            return known[name]
        case k.Cast(arg=a, type=t):
            return _of_type(_value(a, known), t)
        case k.Op(name=name, args=(a, b), type=t) if name in _STEPS:
            return _of_type(_STEPS[name](_of_type(_value(a, known), t), _of_type(_value(b, known), t)), t)
        case k.Op(name="neg", args=(a,)):
            return -_value(a, known)
    raise _Unknown


def _made(s: k.While, count: int, flags: list[k.Expr], rest: list[k.Expr], flag: str) -> Counted:
    before: tuple[k.Stmt, ...] = ()
    body, alive = s.body, list(flags)
    if rest:
        before = (k.Assign(flag, FALSE, BOOL, span=s.span),)
        body = (k.If(all_of(rest), body, (k.Assign(flag, TRUE, BOOL, span=s.span),), span=s.span),)
        alive.append(k.Op("not", (k.Var(flag, BOOL),), BOOL))
    if alive:
        body = (k.If(all_of(alive), body, span=s.span),)
    fresh = "round$round"
    loop = k.For(fresh, ZERO, k.Const(count, INT), ONE, body, type=INT, span=s.span)
    return Counted(fresh, before, loop, ())
