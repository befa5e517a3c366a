"""Loops that are left where a guard says the same: ``if (j >= n) break;`` with j growing from round to round
(Kernel IR to Kernel IR).

``for u in 0 .. 4: j = i + u * 32; if (j >= n) break; rest`` does ``rest`` where ``j < n``: once j has passed n it stays
there, and the rounds behind do nothing. Likewise ``if (u == last) break;``, behind which no round comes: it may stand
anywhere. The side conditions: the exit compares integers whose difference moves one way with the loop's variable, by
numbers or by what a launch counts; it is made of what no round changes, besides numbers that come before it and do
nothing else; there is no other exit; and behind the loop nothing asks for what its rounds set before the exit. A
``return`` is such an exit where nothing comes behind the loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.ir.types import BOOL, ScalarType
from kraise.raising.loops.rerolled import once_in, positive, slack_of
from kraise.raising.loops.spelling import local, poly_of
from kraise.raising.loops.touched import still
from kraise.raising.run.liveness import assigned, behind, exposed, reads

Stmts = tuple[k.Stmt, ...]
Known = dict[str, k.Expr]


def without_exits(
    stmts: Stmts, live: frozenset[str] = frozenset(), last: bool = True, known: Known | None = None
) -> Stmts:
    """``stmts`` with guards in place of such exits; ``live``: the locals that are read behind them, ``last``: nothing
    comes behind them in the function, ``known``: what integers around them are."""
    if not any(isinstance(x, k.Break | k.Return) for x in walked(stmts)):
        return stmts
    known = (known or {}) | once_in(stmts)
    out: list[k.Stmt] = []
    for n, (s, after) in enumerate(zip(stmts, behind(stmts, live), strict=True)):
        ends = last and n == len(stmts) - 1
        match s:
            case k.If(body=body, orelse=orelse):
                arms = [without_exits(x, after, ends, known) for x in (body, orelse)]
                s = replace(s, body=arms[0], orelse=arms[1])
            case k.For(body=body) | k.While(body=body):
                inner = after | exposed((s,), after)
                own = {x: v for x, v in known.items() if x not in assigned((s,))}
                s = replace(s, body=without_exits(body, inner, False, own))
                s = (_guarded(s, after, ends, own) if isinstance(s, k.For) else None) or s
        out.append(s)
    return tuple(out)


def _guarded(s: k.For, after: frozenset[str], ends: bool, around: Known) -> k.For | None:
    """The loop with a guard for its exit, if it has one such."""
    exits = [n for n, x in enumerate(s.body) if _leaves(x, ends)]
    inside = [x for x in walked(s.body) if isinstance(x, k.Break | k.Continue | k.Return)]
    if s.orelse or s.var in after | {*assigned(s.body)} or len(exits) != 1 or len(inside) != 1:
        return None
    first, leave, rest = s.body[: exits[0]], s.body[exits[0]], s.body[exits[0] + 1 :]
    assert isinstance(leave, k.If)
    if not rest or not (_last_round(s, leave.condition) or _stays(s, first, leave.condition, after, around)):
        return None
    stays = k.Op("not", (leave.condition,), BOOL, span=leave.condition.span)
    return replace(s, body=(*first, k.If(stays, rest, span=leave.span)))


def _leaves(s: k.Stmt, ends: bool) -> bool:
    match s:
        case k.If(body=(k.Break(),), orelse=()):
            return True
        case k.If(body=(k.Return(values=()),), orelse=()):
            return ends
    return False


def _last_round(s: k.For, condition: k.Expr) -> bool:
    """Whether a condition holds in no round but the last: ``u == stop - 1``."""
    match condition:
        case k.Op(name="eq", args=(a, b)) if a.type.is_integer and b.type.is_integer:
            gap = poly_of(a, {}) - poly_of(b, {})
            end = to_poly(local(s.var)) + 1 - poly_of(s.stop, {})
            one = isinstance(s.step, k.Const) and s.step.value == 1
            return one and gap in (end, -end) and not reads(s.stop) & {*assigned(s.body)} and still(s.stop, s.body)
    return False


def _stays(s: k.For, first: Stmts, condition: k.Expr, after: frozenset[str], around: Known) -> bool:
    """Whether the condition, once it holds, holds in all rounds that follow, and ``first`` only says what it is of."""
    own: Known = {}
    for x in first:
        if not isinstance(x, k.Assign) or not _plain(x.type) or x.name in after or x.name in own or _asks(x.value):
            return False
        own[x.name] = x.value
    changed = {*assigned(s.body)}
    used = reads(condition).union(*(reads(v) for v in own.values()))
    if (used - {*own}) & changed or {*own} & ({*assigned(s.body[len(first) :])} | exposed(s.body, frozenset())):
        return False
    slack = slack_of(condition, around | own)
    if slack is None or _asks(condition):
        return False
    assert isinstance(condition, k.Op)
    v = to_poly(local(s.var))
    moves = slack.coefficient(local(s.var))
    rest = slack - moves * v
    if any(s.var in repr(a) for a in (*rest.atoms(), *moves.atoms())) or not positive(poly_of(s.step, around)):
        return False
    return positive(moves) and all(_whole(s, e, around | own) for e in condition.args)


def _whole(s: k.For, e: k.Expr, known: Known) -> bool:
    """Whether a side of the comparison is the same in all rounds, or the number that it says: it has a sign and so has
    what it is made of, or none of that is below zero (to which an unsigned type would do something)."""
    poly, parts = poly_of(e, known), [*_parts(e, known)]
    if local(s.var) not in poly.atoms() or all(x.type.kind == "int" for x in parts if not isinstance(x, k.Const)):
        return True
    counts: set[eq.Expr] = {local(s.var)} if isinstance(s.start, k.Const) and int(s.start.value.real) >= 0 else set()
    for x in parts:
        if isinstance(x, k.Hw) or (isinstance(x, k.Var) and x.type.kind == "uint"):
            counts |= poly_of(x, {}).atoms()
    return poly.atoms() <= counts and all(c > 0 for c in poly.terms.values())


def _parts(e: k.Expr, known: Known) -> Iterator[k.Expr]:
    """What an expression is made of, with what locals are."""
    for x in walked((e,)):
        if isinstance(x, k.Var) and x.name in known:
            yield from _parts(known[x.name], known)
        elif isinstance(x, k.Var | k.Hw | k.Op | k.Cast | k.Shape | k.Const):
            yield x


def _plain(t: ScalarType) -> bool:
    return t.is_integer and (t.bits or 64) >= 32


def _asks(e: k.Expr) -> bool:
    return any(isinstance(x, k.Load | k.Call | k.Warp) for x in walked((e,)))


__all__ = ["without_exits"]
