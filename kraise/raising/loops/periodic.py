"""Loops in which two arrays change places, as loops of whole turns (Kernel IR to Kernel IR).

``cur = 1 - cur`` each round, or ``s % 2``, says which buffer is read and which is written. The rounds of such a loop
come in turns of k, in each of which every subscript and branch that asks is decided: a loop over the turns whose body
is k rounds, and behind it the rounds of a turn that is begun and not ended. An expert writes two steps a round, too: no
array is chosen or copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import lcm
from typing import Any

from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten, walked
from kraise.ir.types import BOOL
from kraise.raising.loops.ahead import OneBuffer, in_one_buffer
from kraise.raising.loops.unrolled import Numbers, maybe
from kraise.raising.memory.phases import has_barrier
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned, behind, exposed

TURN = 4  # rounds of a turn, at most
LONGEST = 60  # statements of a round, at most


def in_turns(cx: Context, stmts: tuple[k.Stmt, ...], live: frozenset[str] = frozenset()) -> tuple[k.Stmt, ...]:
    """``stmts`` with such loops so written; ``live``: the locals that are read behind them."""
    return _block(cx, stmts, {}, live)


def _block(cx: Context, stmts: tuple[k.Stmt, ...], known: Numbers, live: frozenset[str]) -> tuple[k.Stmt, ...]:
    out: list[k.Stmt] = []
    entry, places = dict(known), behind(stmts, live)
    for at, (s, after) in enumerate(zip(stmts, places, strict=True)):
        match s:
            case k.If(body=body, orelse=orelse):
                body, orelse = (_block(cx, b, dict(known), after) for b in (body, orelse))
                s = s if (body, orelse) == (s.body, s.orelse) else replace(s, body=body, orelse=orelse)
            case k.For(body=body, orelse=()):
                turned = _turned(cx, s, known, after, _Around(tuple(out), entry, stmts[at + 1 :], live))
                if isinstance(turned, OneBuffer):
                    return (*turned.before, *_block(cx, (*turned.loop, *turned.behind), known, live))
                if turned is not None:
                    out += turned
                    _run((s,), known)
                    continue
                inner = {n: v for n, v in known.items() if n not in assigned((s,))}
                body = _block(cx, body, inner, exposed(body, after) | after)
                s = s if body == s.body else replace(s, body=body)
        out.append(s)
        _run((s,), known)
    return stmts if tuple(out) == stmts else tuple(out)


@dataclass(frozen=True)
class _Around:
    """The statements of a block before a loop, the numbers known where it begins, the statements behind the loop, and
    the locals that are read behind the block."""

    before: tuple[k.Stmt, ...]
    entry: Numbers
    behind: tuple[k.Stmt, ...]
    live: frozenset[str]


def _turned(
    cx: Context, loop: k.For, known: Numbers, after: frozenset[str], around: _Around
) -> list[k.Stmt] | OneBuffer | None:
    """The loop in turns, and what its state is behind it, or a loop that uses one buffer in place of several; None if
    it has no turns, or if no place depends on them."""
    body, own = loop.body, set(assigned(loop.body))
    step = maybe(loop.step, known)
    if loop.var in after or loop.var in own or step is None or len([*_statements(body)]) > LONGEST:
        return None
    if any(isinstance(x, k.LocalArray | k.Return) for x in _statements(body)):
        return None
    if own & {x.name for e in (loop.start, loop.stop) for x in walked(e) if isinstance(x, k.Var)}:
        return None
    entry = {n: v for n, v in known.items() if n in own}
    fixed = {n: v for n, v in known.items() if n not in own}
    start = maybe(loop.start, known)
    asked = _asked(loop) if start is not None and start >= 0 and step == 1 and has_barrier(cx, body) else 1
    states = _states(body, entry, fixed)
    turn = lcm(asked, len(states))
    if not 1 < turn <= TURN:
        return None
    states *= turn // len(states)
    copies = [
        _decided(body, fixed | states[j], loop.var, (start or 0) + j if asked > 1 else None, turn) for j in range(turn)
    ]
    moving = [n for n in states[0] if len({s[n] for s in states}) > 1]
    copies = [_without(c, set(moving)) for c in copies]
    if (one := _in_one_buffer(loop, fixed, copies, states, moving, around)) is not None:
        return one
    if step != 1 or all(_places(c) == _places(copies[0]) for c in copies):
        return None
    return [*_written_out(loop, copies), *_behind(loop, moving, states, after)]


def _in_one_buffer(
    loop: k.For,
    fixed: Numbers,
    copies: list[tuple[k.Stmt, ...]],
    states: list[Numbers],
    moving: list[str],
    around: _Around,
) -> OneBuffer | None:
    if not any(isinstance(x, k.Barrier) for x in loop.body):
        return None
    before = _decided(around.before, around.entry, "", None, 1)
    one = in_one_buffer(before, loop, copies, [fixed | s for s in states], around.behind)
    if one is None:
        return None
    left = exposed(one.behind, around.live)
    if not left & set(moving):
        return one
    unit = maybe(loop.step, fixed) == 1
    return replace(one, loop=(*one.loop, *_behind(loop, moving, states, left))) if unit else None


def _written_out(loop: k.For, copies: list[tuple[k.Stmt, ...]]) -> Iterator[k.Stmt]:
    """The loop over the turns, and the rounds of the last one if it is not whole."""
    turn, t, span = len(copies), loop.type, loop.span
    trips = _trips(loop)
    turns = _op("floordiv", trips, k.Const(turn, t))
    first = _op("mul", k.Var(loop.var, t), k.Const(turn, t))
    rounds: list[k.Stmt] = []
    for j, copy in enumerate(copies):
        rounds += _at(copy, loop.var, _sum(loop.start, _sum(first, k.Const(j, t))))
    few = maybe(turns, {})
    if few is None or few > 0:  # there may be a whole one
        yield k.For(loop.var, k.Const(0, t), turns, k.Const(1, t), tuple(rounds), type=t, span=span)
    for j, copy in enumerate(copies[:-1]):
        last = _sum(loop.stop, k.Const(-1, t)) if turn == 2 else None  # half a turn is one round
        whole = _sum(loop.start, _sum(_op("mul", turns, k.Const(turn, t)), k.Const(j, t)))
        yield k.If(_more(loop, turn, j), _at(copy, loop.var, last or whole), span=span)


def _behind(loop: k.For, moving: list[str], states: list[Numbers], after: frozenset[str]) -> Iterator[k.Stmt]:
    """What the loop has made of the numbers of its state that are read behind it."""
    types = {s.name: s.type for s in _statements(loop.body) if isinstance(s, k.Assign)}
    for name in moving:
        if name not in after:
            continue
        t = types[name]
        value: k.Expr = k.Const(states[0][name], t)
        for j in range(1, len(states)):
            value = k.Op("select", (_rest(loop, len(states), j), k.Const(states[j][name], t), value), t, span=loop.span)
        yield k.Assign(name, value, t, span=loop.span)


def _trips(loop: k.For) -> k.Expr:
    zero = isinstance(loop.start, k.Const) and loop.start.value == 0
    return loop.stop if zero else _op("sub", loop.stop, loop.start)


def _more(loop: k.For, turn: int, j: int) -> k.Expr:
    """Whether round ``j`` of a last turn that is not whole is run."""
    rest = _op("mod", _trips(loop), k.Const(turn, loop.type))
    some = k.Op("gt", (_trips(loop), k.Const(0, loop.type)), BOOL)
    last = turn - 1
    left = k.Op("eq" if j + 1 == last else "gt", (rest, k.Const(last if j + 1 == last else j, loop.type)), BOOL)
    return k.Op("and", (some, left), BOOL, span=loop.span)


def _rest(loop: k.For, turn: int, j: int) -> k.Expr:
    """Whether ``j`` rounds of a turn are over at the end."""
    rest = _op("mod", _trips(loop), k.Const(turn, loop.type))
    some = k.Op("gt", (_trips(loop), k.Const(0, loop.type)), BOOL)
    return k.Op("and", (some, k.Op("eq", (rest, k.Const(j, loop.type)), BOOL)), BOOL, span=loop.span)


def _op(name: str, a: k.Expr, b: k.Expr) -> k.Expr:
    known = maybe(k.Op(name, (a, b), a.type), {})
    return k.Op(name, (a, b), a.type, span=a.span) if known is None else k.Const(known, a.type, span=a.span)


def _sum(a: k.Expr, b: k.Expr) -> k.Expr:
    if isinstance(a, k.Const) and a.value == 0:
        return b
    if isinstance(b, k.Const) and type(b.value) is int and b.value <= 0:
        return a if b.value == 0 else _op("sub", a, replace(b, value=-b.value))
    return _op("add", a, b)


# --- what the rounds do with the numbers


def _states(body: tuple[k.Stmt, ...], entry: Numbers, fixed: Numbers) -> list[Numbers]:
    """The numbers that the rounds of a turn begin with: those that come back to what they were on entry."""
    while True:
        states = [dict(entry)]
        for _ in range(TURN):
            after = {**fixed, **states[-1]}
            _run(body, after)
            states.append({n: after[n] for n in entry if n in after})
        back = {n: next((p for p in range(1, TURN + 1) if _every(states, n, p)), 0) for n in entry}
        if all(back.values()):
            turn = lcm(1, *back.values())
            return states[:turn] if turn <= TURN else [dict(entry)]
        entry = {n: v for n, v in entry.items() if back[n]}


def _every(states: list[Numbers], name: str, turn: int) -> bool:
    values = [s.get(name) for s in states]
    return None not in values and all(values[at] == values[at % turn] for at in range(len(values)))


def _run(stmts: tuple[k.Stmt, ...], known: Numbers) -> None:
    """What ``stmts`` make of the ``known`` numbers."""
    for s in stmts:
        match s:
            case k.Assign(name=name, value=v, type=t):
                number = maybe(v, known) if t.kind not in ("float", "complex") else None
                known.pop(name, None)
                if number is not None:
                    known[name] = number
            case k.If(condition=c, body=a, orelse=b) if (holds := maybe(c, known)) is not None:
                _run(a if holds else b, known)
            case _:
                for name in assigned((s,)):
                    known.pop(name, None)


def _decided(stmts: tuple[k.Stmt, ...], known: Numbers, var: str, at: int | None, turn: int) -> tuple[k.Stmt, ...]:
    """A round with what the numbers decide; round ``at`` of the loop over ``var`` is one each ``turn``."""
    known, out = dict(known), list[k.Stmt]()

    def visit(x: Any) -> Any:
        match x:
            case k.Op() if (number := _remainder(x, var, at, turn)) is not None:
                return k.Const(number, x.type, span=x.span)
            case k.Var(name=name, type=t) if name in known:
                return k.Const(bool(known[name]) if t == BOOL else known[name], t, span=x.span)
            case k.Op(name="select", args=(c, a, b)):
                c = rewritten(c, visit)
                holds = maybe(c, {})
                return None if holds is None else rewritten(a if holds else b, visit)
        return None

    for s in stmts:
        match s:
            case k.If(condition=c, body=body, orelse=orelse):
                c = rewritten(c, visit)
                holds = maybe(c, {})
                if holds is None:
                    body, orelse = (_decided(b, known, var, at, turn) for b in (body, orelse))
                    out.append(replace(s, condition=c, body=body, orelse=orelse))
                    _run((s,), known)
                else:
                    taken = _decided(body if holds else orelse, known, var, at, turn)
                    out += taken
                    _run(taken, known)
            case k.For() | k.While():
                for name in assigned((s,)):
                    known.pop(name, None)
                inner = _decided(s.body, known, var, at, turn)
                out.append(replace(rewritten(replace(s, body=()), visit), body=inner))
            case _:
                s = rewritten(s, visit)
                out.append(s)
                _run((s,), known)
    return tuple(out)


def _remainder(e: k.Op, var: str, at: int | None, turn: int) -> int | None:
    """What ``var % m`` and ``var & 1`` are in the rounds ``at``, ``at + turn``, …"""
    if at is None:
        return None
    by = _by(e, var)
    return maybe(e, {var: at}) if by and turn % by == 0 else None


def _by(e: k.Op, var: str) -> int:
    """m of ``(var + c) % m``, 0 if ``e`` is no such number."""
    match e:
        case k.Op(name="mod" | "tmod", args=(a, k.Const(value=int() as m))) if m > 1:
            by = m
        case k.Op(name="and_", args=(a, k.Const(value=1))):
            by = 2
        case _:
            return 0
    match a:
        case k.Var(name=name):
            return by if name == var else 0
        case k.Op(name="add", args=(k.Var(name=name), k.Const(value=int() as c))):
            return by if name == var and c >= 0 else 0
    return 0


def _asked(loop: k.For) -> int:
    """The number of rounds after which all conditions on the loop's variable modulo a number are what they were."""
    found = {by for x in walked(loop.body) if isinstance(x, k.Op) and (by := _by(x, loop.var))}
    return lcm(1, *found)


def _places(stmts: tuple[k.Stmt, ...]) -> list[object]:
    """What is read and stored where, and under which conditions, in the order of the statements."""
    nodes = list(walked(stmts))
    out: list[object] = []
    for x in nodes:
        match x:
            case k.Load(array=a, subscripts=subs) | k.Store(array=a, subscripts=subs):
                out.append((a, subs))
            case k.Atomic(array=a, subscripts=subs):
                out.append((a, subs))
            case k.If(condition=c):
                out.append(c)
    values = [(x.name, x.value) for x in nodes if isinstance(x, k.Assign)]
    asked = {v.name for e in out for v in walked(e) if isinstance(v, k.Var)}
    while more := {v.name for n, e in values if n in asked for v in walked(e) if isinstance(v, k.Var)} - asked:
        asked |= more
    return [*out, *(v for v in values if v[0] in asked)]


def _without(stmts: tuple[k.Stmt, ...], names: set[str]) -> tuple[k.Stmt, ...]:
    """``stmts`` without what they assign to ``names``."""

    def visit(x: Any) -> Any:
        if isinstance(x, k.If | k.For | k.While):
            return replace(x, body=_without(x.body, names), orelse=_without(x.orelse, names))
        return None

    return tuple(rewritten(s, visit) for s in stmts if not (isinstance(s, k.Assign) and s.name in names))


def _at(stmts: tuple[k.Stmt, ...], var: str, value: k.Expr) -> tuple[k.Stmt, ...]:
    names: Mapping[str, k.Expr] = {var: value}
    return rewritten(stmts, lambda x: names.get(x.name) if isinstance(x, k.Var) else None)  # type: ignore[no-any-return]


def _statements(stmts: tuple[k.Stmt, ...]) -> Iterator[k.Stmt]:
    for x in walked(stmts):
        if isinstance(x, k.Assign | k.If | k.For | k.While | k.Store | k.Atomic | k.LocalArray | k.Return):
            yield x


__all__ = ["in_turns"]
