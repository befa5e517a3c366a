"""Loops of a known number of rounds that hold barriers, written out: log-step loops of a block (contract, section 4).

What the threads of a block compute together in ``for (w = 64; w > 0; w /= 2)`` is whole-array statements for each w,
with bounds that are numbers, where no sum or running sum explains it. The loop's variable must be a number in every
round, whatever the thread and the data.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from kraise.ir import kernel as k
from kraise.ir.operations import COMPARISONS
from kraise.raising.memory.phases import has_barrier
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned

ROUNDS, STATEMENTS = 80, 500
Numbers = dict[str, int]

_FOLDS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "and_": operator.and_,
    "or_": operator.or_,
    "xor": operator.xor,
    "shl": lambda a, b: a << b if 0 <= b < 31 else 1 << 40,
    "pow": lambda a, b: a**b if 0 <= b < 31 and abs(a) <= 2 else 1 << 40,
    "shr": lambda a, b: a >> b if 0 <= b < 63 else 0,
    **COMPARISONS,
}


class _Unknown(Exception):
    """A number that is not known."""


def unrolled(cx: Context, stmts: tuple[k.Stmt, ...], threads: Mapping[int, int]) -> tuple[k.Stmt, ...]:
    """``stmts`` with such loops written out, in blocks of so many ``threads`` along axes of which that is known (of
    shared arrays a loop of steps does for blocks of any size); the same if there are none, or if it would be too
    long."""
    made = _Unroller(cx)
    sizes = {f"blockDim.{a}": abs(n) for a, n in threads.items() if a < 3 and abs(n) > 1 and not cx.shared}
    try:
        out = made.block(stmts, sizes)
    except _Unknown:
        return stmts
    return out if made.loops else stmts


class _Unroller:
    def __init__(self, cx: Context):
        self.cx, self.loops, self.count = cx, 0, 0

    def block(self, stmts: tuple[k.Stmt, ...], known: Numbers) -> tuple[k.Stmt, ...]:
        out: list[k.Stmt] = []
        for s in stmts:
            out += self.statement(s, known)
            self.count += 1
            if self.count > STATEMENTS:
                raise _Unknown
        return tuple(out)

    def statement(self, s: k.Stmt, known: Numbers) -> list[k.Stmt]:
        match s:
            case k.Assign(name=name, value=v, type=t):
                number = maybe(v, known) if t.is_integer else None
                known.pop(name, None)
                if number is not None:
                    known[name] = number
                    return [k.Assign(name, k.Const(number, t), t, span=s.span)]
            case k.If(body=body, orelse=orelse):
                first, second = dict(known), dict(known)
                s = k.If(s.condition, self.block(body, first), self.block(orelse, second), span=s.span)
                for name in assigned((s,)):
                    known.pop(name, None)
                return [s]
            case k.While(test_last=False, orelse=()) if has_barrier(self.cx, s.body):
                done = self.rounds(s, known)
                if done is not None:
                    return done
            case k.For(orelse=()) if has_barrier(self.cx, s.body):
                done = self.counted(s, known)
                if done is not None:
                    return done
        for name in assigned((s,)):
            known.pop(name, None)
        return [s]

    def rounds(self, s: k.While, known: Numbers) -> list[k.Stmt] | None:
        trial: Numbers = dict(known)
        out: list[k.Stmt] = []
        for _ in range(ROUNDS):
            going = maybe(s.condition, trial)
            if going is None:
                return None
            if not going:
                known.clear()
                known |= trial
                self.loops += 1
                return out
            out += self.block(s.body, trial)
        return None

    def counted(self, s: k.For, known: Numbers) -> list[k.Stmt] | None:
        ends = [maybe(e, known) for e in (s.start, s.stop, s.step)]
        if None in ends or ends[2] == 0:
            return None
        values = range(*ends)  # type: ignore[arg-type]
        if len(values) > ROUNDS:
            return None
        out: list[k.Stmt] = []
        for v in values:
            known[s.var] = v
            out.append(k.Assign(s.var, k.Const(v, s.type), s.type, span=s.span))
            out += self.block(s.body, known)
        self.loops += 1
        return out


def maybe(e: k.Expr, known: Numbers) -> int | None:
    """The value of an integer expression, if the ``known`` locals give it one."""
    try:
        return _number(e, known)
    except _Unknown:
        return None


def _number(e: k.Expr, known: Numbers) -> int:
    out: int
    match e:
        case k.Const(value=bool() | int() as v):
            return int(v)
        case k.Var(name=name) if name in known:
            return known[name]
        case k.Hw(kind="blockDim", axis=axis) if f"blockDim.{axis}" in known:
            return known[f"blockDim.{axis}"]
        case k.Cast(type=t, arg=k.Op(name="pow", args=(k.Const(value=2.0), a))) if t.is_integer:
            out = _FOLDS["pow"](2, _number(_whole(a), known))  # exact in floating point, too
        case k.Cast(arg=a, type=t) if t.is_integer:
            out = _number(a, known)
        case k.Op(name="not", args=(a,)):
            return int(not _number(a, known))
        case k.Op(name="and", args=(a, b)):
            return int(bool(_number(a, known)) and bool(_number(b, known)))
        case k.Op(name="or", args=(a, b)):
            return int(bool(_number(a, known)) or bool(_number(b, known)))
        case k.Op(name="floordiv" | "tdiv" | "mod" | "tmod" as name, args=(a, b)):
            top, by = _number(a, known), _number(b, known)
            if by <= 0 or top < 0:
                raise _Unknown
            out = top % by if name.endswith("mod") else top // by
        case k.Op(name=name, args=(a, b)) if name in _FOLDS:
            out = int(_FOLDS[name](_number(a, known), _number(b, known)))
        case _:
            raise _Unknown
    unsigned, bits = e.type.kind == "uint", (e.type.bits or 32) if e.type.is_integer else 32
    most = min(bits - (not unsigned), 31)
    if not (0 if unsigned else -(1 << most)) <= out < 1 << most:
        raise _Unknown  # it would wrap
    return out


def _whole(e: k.Expr) -> k.Expr:
    """The integer that was cast to a floating number."""
    return _whole(e.arg) if isinstance(e, k.Cast) else e


__all__ = ["Numbers", "maybe", "unrolled"]
