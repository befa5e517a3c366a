"""While loops over powers of two, as counted loops (Kernel IR to Kernel IR).

``for (w = 1; w < n; w *= 2)`` has ``(n - 1).bit_length()`` rounds, ``for (w = n / 2; w > 0; w /= 2)`` has
``(n // 2).bit_length()``; in round r the variable is ``1 << r``, or ``(n // 2) >> r``. The side conditions: every round
that another one follows moves the variable once, by a shift of the same number of bits; it starts from a positive
number (upwards) or from what sizes say (downwards, to zero or to below a power of two), and the bound does not change.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraise.analysis.conditions import static_expr
from kraise.analysis.poly import Poly, constant, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT
from kraise.raising.loops.counted import NEGATED, TURNED, Counted, all_of, conjuncts_of, flag_of, update_of
from kraise.raising.loops.touched import still
from kraise.raising.run.arithmetic import index_like
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned, reads
from kraise.raising.run.state import State
from kraise.raising.run.values import provable_here, value

ZERO, ONE = k.Const(0, INT), k.Const(1, INT)
_MOST = 30  # exponents: the powers fit 32 bits
TRUE, FALSE = k.Const(True, BOOL), k.Const(False, BOOL)


@dataclass(frozen=True)
class _Shift:
    """Every round shifts the variable by ``bits``."""

    up: bool
    bits: int


def doubling(cx: Context, st: State, s: k.While, flag: str) -> Counted | None:
    """``s`` as a counted loop, or None. Its exits must be structured; ``flag`` is a name that nothing else uses."""
    if s.test_last:
        return None
    conjuncts = [c for c in conjuncts_of(s.condition) if c != TRUE]
    flags = [c for c in conjuncts if flag_of(c) is not None]
    names = frozenset(f for c in flags if (f := flag_of(c)) is not None)
    for c in conjuncts:
        if c in flags or not isinstance(c, k.Op):
            continue
        found = _rounds(cx, st, c, s.body, names)
        if found is None:
            continue
        name, shift, rounds = found
        rest = [x for x in conjuncts if x is not c and x not in flags]
        return _made(s, name, shift, rounds, flags, rest, flag)
    return None


def _rounds(
    cx: Context, st: State, c: k.Op, body: tuple[k.Stmt, ...], flags: frozenset[str]
) -> tuple[k.Var, _Shift, k.Expr] | None:
    """The variable that ``c`` bounds, how it moves, and in how many rounds it passes its bound."""
    relation, args = c.name, c.args
    if relation == "not" and isinstance(args[0], k.Op) and args[0].name in NEGATED:
        relation, args = NEGATED[args[0].name], args[0].args
    if isinstance(c, k.Var) or relation not in TURNED or len(args) != 2:
        return None
    for how, (a, b) in ((relation, args), (TURNED[relation], args[::-1])):
        a, seen = _unsigned(a)
        shift = _shifted(a.name, body, flags) if isinstance(a, k.Var) and a.type.is_integer else None
        if shift is None or not isinstance(a, k.Var) or not b.type.is_integer:
            continue
        if reads(b) & {*assigned(body)} or not still(b, body):
            continue
        first = st.env.get(a.name)
        if seen and first is not None and not provable_here(st, to_poly(first)):
            continue
        rounds = (
            None if first is None else _upwards(first, how, b, shift) if shift.up else _downwards(st, a, first, how, b)
        )
        if rounds is None or first is None:
            continue
        known = value(cx, st.copy(), rounds)
        if shift.up and static_expr(known) and (b.type.bits or 32) <= 32:
            most = _MOST + 2 - _bits(first)  # a bound of 31 bits, divided by the start
            st.facts = tuple(dict.fromkeys((*st.facts, eq.Op("le", (known, eq.Const(most, INT)), BOOL))))
        if not static_expr(known):
            counted = _by_exponents(st, first, how, value(cx, st.copy(), b), shift.up)
            if counted is None:
                continue
            rounds = k.Var(f"${a.name}$bits", INT)
            st.env[rounds.name] = counted
        if shift.bits > 1:
            over = k.Op("add", (rounds, k.Const(shift.bits - 1, INT)), INT)
            rounds = k.Op("floordiv", (over, k.Const(shift.bits, INT)), INT)
        return a, shift, rounds
    return None


def _unsigned(e: k.Expr) -> tuple[k.Expr, bool]:
    """A signed variable that is compared as an unsigned number, and whether it is: the same if it is not negative."""
    seen = isinstance(e, k.Cast) and isinstance(e.arg, k.Var) and e.arg.type.kind == "int" and e.type.kind == "uint"
    wide = isinstance(e, k.Cast) and (e.type.bits or 0) >= (e.arg.type.bits or 32)
    return (e.arg, True) if isinstance(e, k.Cast) and seen and wide else (e, False)


def _bits(first: eq.Expr) -> int:
    return first.value.bit_length() if isinstance(first, eq.Const) and type(first.value) is int else 1


def _upwards(first: eq.Expr, relation: str, bound: k.Expr, shift: _Shift) -> k.Expr | None:
    """The least r with ``first << r`` not below the bound."""
    if relation not in ("lt", "le") or not isinstance(first, eq.Const) or type(first.value) is not int:
        return None
    start: int = first.value
    if start < 1:
        return None
    stop = bound if relation == "lt" else k.Op("add", (bound, ONE), INT)
    most = k.Op("sub", (stop, ONE), INT)
    if start > 1:
        most = k.Op("floordiv", (most, k.Const(start, INT)), INT)
    return k.Op("bit_length", (k.Op("max", (ZERO, most), INT),), INT)


def _downwards(st: State, v: k.Var, first: eq.Expr, relation: str, bound: k.Expr) -> k.Expr | None:
    """The least r with ``first >> r`` at zero, or below a power of two."""
    if not isinstance(bound, k.Const) or type(bound.value) is not int:
        return None
    least: int = bound.value + (relation == "gt")
    if relation == "ne":
        if bound.value != 0 or not (v.type.kind == "uint" or provable_here(st, to_poly(first))):
            return None
        least = 1
    elif relation not in ("gt", "ge"):
        return None
    if least < 1 or least & (least - 1):
        return None
    bits = k.Op("bit_length", (k.Op("max", (ZERO, v), INT),), INT)
    if least == 1:
        return bits
    return k.Op("max", (ZERO, k.Op("sub", (bits, k.Const(least.bit_length() - 1, INT)), INT)), INT)


def _by_exponents(st: State, start: eq.Expr, relation: str, bound: eq.Expr, up: bool) -> eq.Expr | None:
    """In how many rounds a power of two comes to another one (``w < 2 << k``), or below one, where the exponents are
    known: those of the loop around count them (bitonic sorting, butterflies)."""
    first, last = _exponent(st, start), _exponent(st, bound)
    if not up:
        least = bound.value + (relation == "gt") if isinstance(bound, eq.Const) and type(bound.value) is int else 0
        last = _exponent(st, eq.Const(1 if relation == "ne" else least, INT))
    if first is None or last is None or (up and relation != "lt"):
        return None
    rounds = last - first if up else first - last + 1
    return to_expr(rounds) if provable_here(st, rounds) else None


def _exponent(st: State, e: eq.Expr) -> Poly | None:
    """p of ``2 ** p``; None if ``e`` is no such power of two, or if its bits may not hold it."""
    match e:
        case eq.Const(value=int() as v) if v > 0 and not v & (v - 1):
            return constant(v.bit_length() - 1)
        case eq.Op(name="shl", args=(a, by)) if index_like(by):
            base, more = _exponent(st, a), to_poly(by)
            if base is None or not provable_here(st, more) or not provable_here(st, constant(_MOST) - base - more):
                return None
            return base + more
        case eq.Op(name="shr", args=(a, by)) if index_like(by):
            base, less = _exponent(st, a), to_poly(by)
            return base - less if base is not None and provable_here(st, base - less) else None
        case eq.Op(name="floordiv" | "tdiv", args=(a, eq.Const(value=int() as by))) if by > 0 and not by & (by - 1):
            base, less = _exponent(st, a), constant(by.bit_length() - 1)
            return base - less if base is not None and provable_here(st, base - less) else None
        case eq.Op(name="mul", args=(a, b)):
            first, second = _exponent(st, a), _exponent(st, b)
            fits = first is not None and second is not None and provable_here(st, constant(_MOST) - first - second)
            return first + second if fits and first is not None and second is not None else None
    return None


def _shifted(name: str, body: tuple[k.Stmt, ...], flags: frozenset[str]) -> _Shift | None:
    """How every round that another one follows moves ``name``, if it does so once."""
    update = update_of(name, body, flags)
    while isinstance(update, k.Cast):
        update = update.arg
    match update:
        case k.Op(name="add", args=(k.Var(name=a), k.Var(name=b))) if a == b == name:
            return _Shift(True, 1)
        case k.Op(
            name="mul", args=(k.Var(name=a), k.Const(value=int() as c)) | (k.Const(value=int() as c), k.Var(name=a))
        ):
            up = True
        case k.Op(name="tdiv" | "floordiv", args=(k.Var(name=a), k.Const(value=int() as c))):
            up = False
        case k.Op(name="shl" | "shr" as way, args=(k.Var(name=a), k.Const(value=int() as c))) if 0 < c < 31:
            up, c = way == "shl", 1 << c
        case _:
            return None
    return _Shift(up, c.bit_length() - 1) if a == name and c > 1 and not c & (c - 1) else None


def _made(
    s: k.While, v: k.Var, shift: _Shift, rounds: k.Expr, flags: list[k.Expr], rest: list[k.Expr], flag: str
) -> Counted:
    kind, span = v.type, s.span
    first, count = k.Var(f"${v.name}$first", kind), k.Var(f"${v.name}$rounds", INT)
    before: list[k.Stmt] = [k.Assign(first.name, v, kind, span=span), k.Assign(count.name, rounds, INT, span=span)]
    fresh = f"{v.name}$round"

    def after_rounds(number: k.Expr) -> k.Assign:
        moved = number if shift.bits == 1 else k.Op("mul", (number, k.Const(shift.bits, INT)), INT)
        return k.Assign(v.name, k.Op("shl" if shift.up else "shr", (first, moved), kind), kind, span=span)

    own = [x for x in s.body if isinstance(x, k.Assign) and x.name == v.name]
    alive = list(flags)
    body: tuple[k.Stmt, ...] = (after_rounds(k.Var(fresh, INT)), *s.body)
    after: tuple[k.Stmt, ...] = ()
    if rest:
        before.append(k.Assign(flag, FALSE, BOOL, span=span))
        body = (k.If(all_of(rest), body, (k.Assign(flag, TRUE, BOOL, span=span),), span=span),)
        alive.append(k.Op("not", (k.Var(flag, BOOL),), BOOL))
    if alive:
        body = (k.If(all_of(alive), body, span=span),)
    elif own and s.body[-1] is own[0]:
        body, after = body[:-1], (after_rounds(count),)
    loop = k.For(fresh, ZERO, count, ONE, body, type=INT, span=span)
    # with other exits it stays a loop of so few rounds, and masks
    return Counted(fresh, tuple(before), loop, after)
