"""Loops that were unrolled by hand, with the loop over the rest behind them, as the loop over all (Kernel IR to Kernel
IR).

``for (; i + 3 * s < n; i += 4 * s) sum += x[i] + x[i + s] + …; for (; i < n; i += s) sum += x[i];`` takes the elements
that the second loop alone takes, in its order. The side conditions: a round of the first loop is some rounds of the
second, written out (sums in any order); where the first loop has a round the second one has them all; nothing else is
between the two; their bodies have no way out and no barrier, and load what they store under the same subscripts only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kraise.analysis.poly import Poly, constant, to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten, walked
from kraise.ir.types import BOOL, INT32
from kraise.raising.loops.accumulators import combined
from kraise.raising.loops.spelling import Form, atom, form_of, local, poly_of
from kraise.raising.loops.touched import still, stores
from kraise.raising.run.liveness import assigned, behind, exposed, reads

_MOST = 32  # rounds of the second loop in one of the first
ONE = k.Const(1, INT32)


@dataclass(frozen=True)
class _Loop:
    """A loop that runs while ``slack`` is positive, and then moves ``var`` by ``step``."""

    var: str
    slack: Poly
    step: Poly
    body: tuple[k.Stmt, ...]


def rerolled(stmts: tuple[k.Stmt, ...], live: frozenset[str] = frozenset()) -> tuple[k.Stmt, ...]:
    """``stmts`` with such pairs of loops as one; ``live``: the locals that are read behind them."""
    if not any(isinstance(s, k.For | k.While | k.If) for s in stmts):
        return stmts
    out: list[k.Stmt] = []
    ever, once = once_in(stmts), dict[str, k.Expr]()
    for s, after in zip(stmts, behind(stmts, live), strict=True):
        match s:
            case k.If(body=body, orelse=orelse):
                body, orelse = rerolled(body, after), rerolled(orelse, after)
                s = s if (body, orelse) == (s.body, s.orelse) else replace(s, body=body, orelse=orelse)
            case k.For(body=body) | k.While(body=body):
                body = rerolled(body, after | exposed((s,), after))
                s = s if body == s.body else replace(s, body=body)
                s = _guarded_parts(s, once, after) or s
        opened = _as_while(out[-2:]) if isinstance(s, k.While) else None
        begun = (*out[:-2], *opened) if opened is not None else out
        whole = _whole_loop(begun[-1], s, once, after) if begun else None
        out = [*out, s] if whole is None else [*begun[:-1], whole]
        if isinstance(s, k.Assign) and s.name in ever:
            once[s.name] = ever[s.name]
    return stmts if tuple(out) == stmts else tuple(out)


def _as_while(stmts: list[k.Stmt]) -> tuple[k.Stmt, ...] | None:
    """``for v in range(start, stop, step)`` and what ``v`` is behind it, as the while loop that it is."""
    match stmts:
        case [k.For(var=v, start=start, stop=stop, step=step, type=t) as loop, k.Assign(name=w, value=end)] if v == w:
            one = k.Const(1, t)
            room = k.Op("sub", (k.Op("add", (k.Op("sub", (stop, start), t), step), t), one), t)
            trips = k.Op("max", (k.Op("tdiv", (room, step), t), k.Const(0, t)), t)
            last = k.Op("add", (start, k.Op("mul", (trips, step), t)), t)
            changed = {v, *assigned(loop.body)}
            if loop.orelse or v in assigned(loop.body) or poly_of(end, {}) != poly_of(last, {}):
                return None
            if (reads(stop) | reads(step)) & changed or not (still(stop, loop.body) and still(step, loop.body)):
                return None
            var = k.Var(v, t)
            moves = k.Assign(v, k.Op("add", (var, step), t), t, span=loop.span)
            condition = k.Op("lt", (var, stop), BOOL, span=loop.span)
            return k.Assign(v, start, t, span=loop.span), k.While(condition, (*loop.body, moves), span=loop.span)
    return None


def _whole_loop(one: k.Stmt, other: k.Stmt, once: Mapping[str, k.Expr], after: frozenset[str]) -> k.Stmt | None:
    """The loop that does what the two do, if they are such a pair; ``after``: the locals that are read behind them."""
    if not isinstance(one, k.For | k.While) or type(one) is not type(other):
        return None
    first, second = _loop(one, once), _loop(other, once)  # type: ignore[arg-type]
    if first is None or second is None:
        return None
    if isinstance(one, k.For) and isinstance(other, k.For):
        count = _rounds(first, second)
        if count is None or {first.var, second.var} & after or not _continues(one, other, count, once):
            return None
        return replace(other, start=one.start) if _written_out(first, second, count, after, once) else None
    count = ((second.slack - first.slack).value or 0) + 1 if second.step.value == 1 else _rounds(first, second) or 0
    if not 1 < count <= _MOST or first.var != second.var or not _within(first, second, count):
        return None
    if not _written_out(first, second, count, after, once):
        return None
    if first.step == second.step * count:
        return other
    if first.var in after or (second.slack - first.slack).value != count - 1:
        return None  # so many elements are next to each other: the last of a thread's groups may be a part of one
    assert isinstance(one, k.While) and isinstance(other, k.While)
    return replace(
        one, condition=other.condition, body=_parts(other.condition, second.body, first, count, ONE, one.body[-1:])
    )


def _parts(
    condition: k.Expr, body: tuple[k.Stmt, ...], loop: _Loop, count: int, step: k.Expr, last: tuple[k.Stmt, ...]
) -> tuple[k.Stmt, ...]:
    """A loop over ``count`` places of ``body`` in steps from the loop's variable on, as far as the condition holds."""
    types = [x.type for x in walked((condition, body)) if isinstance(x, k.Var) and x.name == loop.var]
    t = types[0]
    part = "part$round"
    by: k.Expr = k.Var(part, INT32)
    by = by if step == ONE else k.Op("mul", (by, step), INT32)
    place = k.Op("add", (k.Var(loop.var, t), by), t)
    here = [
        rewritten(x, lambda v: place if isinstance(v, k.Var) and v.name == loop.var else None)
        for x in (condition, body)
    ]
    inner = k.If(here[0], here[1], span=body[0].span)
    return (k.For(part, k.Const(0, INT32), k.Const(count, INT32), ONE, (inner,), type=INT32, span=inner.span), *last)


def _guarded_parts(s: k.For | k.While, once: Mapping[str, k.Expr], after: frozenset[str]) -> k.Stmt | None:
    """``sum += x[i]; if (i + b < n) sum += x[i + b]; i += 2 * b * blocks`` as a loop over the two."""
    guarded = [n for n, x in enumerate(s.body) if isinstance(x, k.If)]
    loop = _loop(s, once) if guarded and guarded[0] else None
    if loop is None or guarded != list(range(guarded[0], len(loop.body))) or loop.var in after:
        return None
    body, others = loop.body[: guarded[0]], loop.body[guarded[0] :]
    carried = after | exposed(loop.body, frozenset())
    if loop.var in assigned(loop.body):
        return None
    v, step, spelled = to_poly(local(loop.var)), None, None
    for u, x in enumerate(others, 1):
        assert isinstance(x, k.If)
        slack = slack_of(x.condition, once)
        if slack is None or x.orelse:
            return None
        if step is None:
            step = loop.slack - slack
            spelled = _offset(x.condition, loop.var)
        there = {**once, loop.var: ("int", v + step * u)}
        one, other = _effects(body, carried, there), _effects(x.body, carried, dict(once))
        if slack != loop.slack - step * u or one is None or one != other or one.loaded:
            return None
    if step is None or spelled is None or poly_of(spelled, once) != step:
        return None
    if isinstance(s, k.While):
        return replace(s, body=_parts(s.condition, body, loop, len(others) + 1, spelled, s.body[-1:]))
    if reads(s.stop) & {*assigned(s.body)} or not still(s.stop, s.body):
        return None
    condition = k.Op("lt", (k.Var(s.var, s.type), s.stop), BOOL, span=s.span)
    return replace(s, body=_parts(condition, body, loop, len(others) + 1, spelled, ()))


def _offset(condition: k.Expr, var: str) -> k.Expr | None:
    """The b of ``i + b < n``."""
    for x in walked(condition):
        match x:
            case k.Op(name="add", args=(a, b)):
                for i, by in ((a, b), (b, a)):
                    bare = i.arg if isinstance(i, k.Cast) else i
                    if isinstance(bare, k.Var) and bare.name == var:
                        return by
    return None


def once_in(stmts: tuple[k.Stmt, ...]) -> dict[str, k.Expr]:
    """The integers of a block that are assigned once, and what they are."""
    names = Counter(n for s in stmts for n in _assignments(s))
    found: dict[str, k.Expr] = {}
    for s in stmts:
        if isinstance(s, k.Assign) and s.type.is_integer and names[s.name] == 1:
            plain = not any(isinstance(x, k.Load | k.Call | k.Warp) for x in walked((s.value,)))
            if plain and all(not names[r] or r in found for r in reads(s.value)):
                found[s.name] = s.value
    return found


def _assignments(s: object) -> Iterator[str]:
    for x in walked((s,)):
        match x:
            case k.Assign(name=name) | k.For(var=name) | k.Atomic(result=name) if name:
                yield name
            case k.CallStmt(results=names):
                yield from names


def _loop(s: k.For | k.While, once: Mapping[str, k.Expr]) -> _Loop | None:
    if s.orelse or any(isinstance(x, k.Warp | k.Call) for x in walked(s.body)):
        return None
    if isinstance(s, k.For):
        if s.var in assigned(s.body) or not positive(poly_of(s.step, once)):
            return None
        return _Loop(s.var, poly_of(s.stop, once) - to_poly(local(s.var)), poly_of(s.step, once), s.body)
    *body, last = s.body or (None,)
    if s.test_last or not isinstance(last, k.Assign):
        return None
    own = {*assigned(s.body)}
    names = reads(s.condition) | reads(last.value)
    if last.name in assigned(tuple(body)) or names & own != {last.name}:  # type: ignore[arg-type]
        return None
    slack = slack_of(s.condition, once)
    if slack is None or any(isinstance(x, k.Load | k.Call) for x in walked((s.condition, last))):
        return None
    v = local(last.name)
    step = poly_of(last.value, once) - to_poly(v)
    others = (slack + to_poly(v)).atoms() | step.atoms()
    if slack.coefficient(v).value != -1 or any(isinstance(a, eq.Param) and v.name in a.name for a in others):
        return None
    return _Loop(last.name, slack, step, tuple(body))  # type: ignore[arg-type]


def positive(step: Poly) -> bool:
    """Whether a step is positive: a number, or so many times what a launch counts."""
    counts = {a for axis in range(3) for kind in ("blockDim", "gridDim") for a in (atom(("hw", kind, axis)),)}
    return bool(step.terms) and all(c > 0 for c in step.terms.values()) and step.atoms() <= counts


def slack_of(condition: k.Expr, once: Mapping[str, k.Expr]) -> Poly | None:
    """What is positive where a comparison of integers holds."""
    if (
        not isinstance(condition, k.Op)
        or len(condition.args) != 2
        or any(not a.type.is_integer for a in condition.args)
    ):
        return None
    a, b = (poly_of(x, once) for x in condition.args)
    return {"lt": b - a, "le": b - a + 1, "gt": a - b, "ge": a - b + 1}.get(condition.name)


def _continues(one: k.For, other: k.For, count: int, once: Mapping[str, k.Expr]) -> bool:
    """Whether the second loop starts where the first one, which takes so many rounds of it at once, ends."""
    if poly_of(one.start, once).value != 0 or poly_of(other.step, once).value != 1:
        return False
    if not (still(other.start, one.body) and still(other.stop, one.body)):
        return False
    if (reads(other.start) | reads(other.stop)) & {one.var, *assigned(one.body)}:
        return False
    n, end, at = (poly_of(x, once) for x in (other.stop, one.stop, other.start))
    whole = [_whole(n, count, how) for how in ("tdiv", "floordiv", "tmod", "mod", "and_")]
    return at in whole and (end in whole or end == n - (count - 1))


def _whole(n: Poly, count: int, how: str) -> Poly | None:
    """The largest multiple of ``count`` that is no more than ``n``, as it is spelled."""
    form = ("int", n)
    if how in ("tdiv", "floordiv"):
        return to_poly(atom((how, form, ("int", constant(count))))) * count
    if how in ("tmod", "mod"):
        return n - to_poly(atom((how, form, ("int", constant(count)))))
    if count & count - 1:
        return None
    return to_poly(atom(("and_", form, ("int", constant(-count)))))


def _within(first: _Loop, second: _Loop, count: int) -> bool:
    """Whether the last of the rounds that one of the first loop stands for is one of the second."""
    more = (first.slack - second.slack + second.step * (count - 1)).value
    return more is not None and more <= 0


def _rounds(first: _Loop, second: _Loop) -> int | None:
    """How many rounds of the second loop one of the first is."""
    for m, c in second.step.terms.items():
        count, rest = divmod(first.step.terms.get(m, 0), c)
        return count if not rest and 1 < count <= _MOST and first.step == second.step * count else None
    return None


def _written_out(first: _Loop, second: _Loop, count: int, after: frozenset[str], once: Mapping[str, k.Expr]) -> bool:
    """Whether a round of the first loop does what so many rounds of the second do, one after another."""
    carried = after | exposed(first.body, frozenset()) | exposed(second.body, frozenset())
    if {first.var, second.var} & {*assigned(first.body), *assigned(second.body)}:
        return False
    one = _effects(first.body, carried, dict(once))
    each = []
    for u in range(count):
        place = to_poly(local(first.var)) + second.step * u
        each.append(_effects(second.body, carried, {**once, second.var: ("int", place)}))
    if one is None or None in each:
        return False
    sums: Counter[Form] = Counter()
    others: list[Form] = []
    for e in each:
        assert e is not None
        sums.update(e.sums)
        others += e.others
    if one.sums != sums or one.others != others or not (sums or others):
        return False
    return all(_apart(a, b, second.step) for e in (one, *each) for a, b in _neighbours(e, each))  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Effects:
    """What a round adds to its accumulators (in any order), what else it does (in order), and the cells that it loads
    of arrays that it stores to."""

    sums: Counter[Form]
    others: list[Form]
    loaded: list[tuple[str, Form]]


def _neighbours(e: _Effects, each: list[_Effects]) -> Iterator[tuple[Form, Form]]:
    """The cells of two rounds, where a round loads what it stores."""
    if e.loaded:
        for (array, a), (other, b) in zip(each[0].loaded, each[1].loaded, strict=True):
            if array == other:
                yield a, b


def _apart(a: Form, b: Form, step: Poly) -> bool:
    """Whether two cells differ by a multiple of the step, which is not zero, along some axis."""
    for (_, x), (_, y) in zip(a, b, strict=True):
        gap = y - x
        for m, c in step.terms.items():
            by, rest = divmod(gap.terms.get(m, 0), c)
            if by and not rest and gap == step * by:
                return True
            break
    return False


def _effects(body: tuple[k.Stmt, ...], carried: frozenset[str], known: dict[str, Any]) -> _Effects | None:
    """What a round does; its own locals are what they are assigned. None where the order of loads and stores would
    matter, or what it does is not understood."""
    out = _Effects(Counter(), [], [])
    stored: dict[str, list[Form]] = {}
    arrays = stores(body)
    asked: set[str] = set()
    for s in body:
        own = [x for x in walked((s,)) if isinstance(x, k.Load) and x.array in arrays]
        for x in own:
            cell = tuple(form_of(at, known) for at in x.subscripts)
            if cell in stored.get(x.array, ()):
                return None
            out.loaded.append((x.array, cell))
        asked |= _asked(s)
        match s:
            case k.Assign(name=name, value=value) if name not in carried:
                known[name] = form_of(value, known)
            case k.Assign(name=name, value=value) if (joined := combined(name, value)) is not None:
                out.sums.update((name, joined[0], form_of(p, known)) for p in joined[1])
            case k.Store(array=array, subscripts=subs, value=value):
                cell = tuple(form_of(x, known) for x in subs)
                out.others.append(("store", array, cell, form_of(value, known)))
                stored.setdefault(array, []).append(cell)
            case k.Atomic(name=op, array=array, subscripts=subs, values=values, result=""):
                cell = tuple(form_of(x, known) for x in subs)
                out.others.append(("atomic", op, array, cell, tuple(form_of(x, known) for x in values)))
                stored.setdefault(array, []).append(op)
            case _:
                return None
    if any(cell not in stored[array] for array, cell in out.loaded):
        return None
    return None if asked & {name for name, _, _ in out.sums} else out


def _asked(s: k.Stmt) -> frozenset[str]:
    """The locals whose value a statement needs, an accumulator that it adds to aside."""
    match s:
        case k.Assign(name=name, value=value):
            joined = combined(name, value)
            return reads(value) if joined is None else frozenset[str]().union(*(reads(p) for p in joined[1]))
    return frozenset(x.name for x in walked((s,)) if isinstance(x, k.Var))


__all__ = ["once_in", "positive", "rerolled", "slack_of"]
