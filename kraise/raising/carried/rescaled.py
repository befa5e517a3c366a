"""Sums that follow a running extremum: the softmax of one pass, and all that is weighted by it.

``m' = max(m, v); s = s * exp(m - m') + w * exp(v - m'); m = m'`` keeps ``s * exp(m)`` a plain sum (Milakov and
Gimelshein 2018, "Online normalizer calculation for softmax"). After the loop m is the largest v, and s the sum of ``w *
exp(v - m)`` with that m: one extremum and one sum, whose terms are at most as large.

Side conditions, each checked: the extremum is the only thing that the running values are used for; s is multiplied by
``exp(k * (m - m'))``, or is left alone where m does not change; every term that is added has one factor ``exp(… - k *
m')`` (or several terms, one each) and says no more of m. Where m has not changed since the loop began, not even in its
first rounds, s is what it was (``-inf - -inf`` is no number).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from kraise.analysis.conditions import always, both, conjunction, conjuncts
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL
from kraise.ir.walk import substitute, topological
from kraise.raising.carried.problem import Declined, Problem, Solved
from kraise.raising.carried.reduction import combined
from kraise.raising.run import simplify
from kraise.raising.writes.accumulate import contribution, holds

_EXPONENTIALS = ("exp", "exp2")
Power = tuple[str, int, tuple[eq.Expr, ...]]  # of ``exp(-k * m)``: the operation, -1 or 1, the factors of k


@dataclass(frozen=True)
class _Extremum:
    """The running extremum before a round and, as a symbol, after it; what it meets, and (of a choice) the condition
    that it changes, and whether it ``stays`` where that holds."""

    before: eq.Expr
    after: eq.Expr
    value: eq.Expr
    changes: eq.Expr | None
    stays: bool


@dataclass(frozen=True)
class _Sum:
    """The terms of a round in terms of the extremum after it, and the power of it that they have."""

    terms: eq.Expr
    power: Power


def rescaled(p: Problem, name: str) -> Solved | Declined:
    """An extremum, and the sums that are kept relative to it."""
    c = p.carries[name]
    where, after = _unmasked(p, p.updates[name], c)
    how = contribution(after, c)
    if how is None or how.op not in ("max", "min") or how.value is None or how.where is not None:
        return Declined(f"{name} is no running extremum")
    if not after.type.is_inexact and after.type.kind != "number":
        return Declined(f"{name} is no running extremum of floats")
    if not p.free_of_pending(how.value) or (where is not None and not p.free_of_pending(where)):
        return Declined(f"what {name} meets depends on another carried value")
    symbol = eq.Param("$extremum", after.type)
    changes, stays = None, False
    if isinstance(after, eq.Op) and after.name == "select":
        changes, stays = after.args[0], after.args[1] is c
    extremum = _Extremum(c, symbol, how.value, changes, stays)
    carried = {n: (p.carries[n], p.updates[n], p.inits[n]) for n in p.pending if n != name} | p.cells
    others = {n: found for n, found in carried.items() if any(holds(found[1], x) for x in (c, after))}
    if not others or p.used_in(name, besides=tuple(others)) or any(holds(e, after) for e in p.uses()):
        return Declined(f"the running value of {name} is used in the loop")
    cells = [cell for cell, _, _ in p.cells.values()]
    if any(holds(e, x) for e in (how.value, *((where,) if where is not None else ())) for x in cells):
        return Declined(f"what {name} meets depends on another carried value")
    sums: dict[str, _Sum] = {}
    for other, (before, updated, _) in others.items():
        mask, update = _unmasked(p, updated, before)
        known = mask is where and (other in p.cells or not p.used_in(other))
        found = _sum(substitute(update, {after: symbol}), before, extremum) if known else None
        if found is None or not p.free_of_pending(found.terms) or any(holds(found.terms, x) for x in cells):
            return Declined(f"{other} is not kept relative to the running {name}")
        sums[other] = found
    total = p.reduce(how.op, how.value, where)
    last = combined(how.op, p.inits[name], total, after)
    final = {name: last}
    for other, found in sums.items():
        made = p.reduce("add", substitute(found.terms, {symbol: last}), where)
        start = others[other][2]
        if not (isinstance(start, eq.Const) and start.value == 0):
            scale = _scale(p, found.power, p.inits[name], last, where)
            made = simplify.op("add", (simplify.op("mul", (start, scale), made.type), made), made.type)
        final[other] = made
    return Solved(final, form=f"a reduction ({how.op}), and sums relative to it")


def _unmasked(p: Problem, update: eq.Expr, c: eq.Expr) -> tuple[eq.Expr | None, eq.Expr]:
    """The condition under which a round changes ``c`` at all, which no carried value decides, and the update then."""
    where: eq.Expr | None = None
    carried = {*p.carries.values()}
    while isinstance(update, eq.Op) and update.name == "select":
        condition, then, orelse = update.args
        decided = [x for x in conjuncts(condition) if any(n in carried for n in topological((x,)))]
        if decided:
            free, rest = (conjunction([x for x in conjuncts(condition) if (x in decided) is d]) for d in (False, True))
            if orelse is c and free is not None and rest is not None:
                where, update = both(where, free), simplify.select(rest, then, c, update.type)
            break
        if orelse is c:
            where, update = both(where, condition), then
        elif then is c:
            where, update = both(where, simplify.negation(condition)), orelse
        else:
            break
    return where, update


def _scale(p: Problem, power: Power, first: eq.Expr, last: eq.Expr, where: eq.Expr | None) -> eq.Expr:
    """What a sum is multiplied by that began relative to another extremum."""
    name, sign, factors = power
    difference = simplify.op("sub", (last, first) if sign > 0 else (first, last), last.type)
    for f in factors:
        difference = simplify.op("mul", (difference, f), difference.type)
    made = simplify.op(name, (difference,), difference.type)
    finite = isinstance(first, eq.Const) and abs(first.value) < float("inf")
    if finite or (where is None and always(to_poly(p.stop) - to_poly(p.start) - 1)):
        return made
    return simplify.select(eq.Op("eq", (first, last), BOOL), eq.Const(1.0, made.type), made, made.type)


# --- what a round adds ---------------------------------------------------------------------------


def _sum(update: eq.Expr, s: eq.Expr, m: _Extremum) -> _Sum | None:
    if isinstance(update, eq.Op) and update.name == "select" and update.args[0] is m.changes:
        return _by_arms(update.args[1], update.args[2], s, m)
    head, rest = _parted(update, s)
    scale = None if head is None else _scaled(head, s, m)
    power = None if scale is None or rest is None else _power(rest, m.after, m.before)
    if power is not None and rest is not None:
        return _Sum(rest, power) if power == scale else None
    if m.changes is None or not any(_chooses(n, m.changes) for n in topological((update,))):
        return None
    then, orelse = _lifted(update, m.changes, True), _lifted(update, m.changes, False)
    ends = (m.before, m.value) if m.stays else (m.value, m.before)
    then, orelse = (substitute(e, {m.after: x}) for e, x in zip((then, orelse), ends, strict=True))
    return _by_arms(then, orelse, s, m)


def _chooses(n: eq.Expr, c: eq.Expr) -> bool:
    """Whether ``n`` is a choice by this condition, or by its negation."""
    return isinstance(n, eq.Op) and n.name == "select" and (n.args[0] is c or n.args[0] is simplify.negation(c))


def _lifted(e: eq.Expr, c: eq.Expr, known: bool) -> eq.Expr:
    """What ``e`` is where ``c`` holds, or (not ``known``) where it does not."""
    while found := [n for n in topological((e,)) if isinstance(n, eq.Op) and _chooses(n, c)]:
        e = substitute(e, {n: n.args[1] if (n.args[0] is c) == known else n.args[2] for n in found})
    return e


def _by_arms(then: eq.Expr, orelse: eq.Expr, s: eq.Expr, m: _Extremum) -> _Sum | None:
    """``s * exp(m - v) + w`` where v is the new extremum, ``s + w * exp(v - m)`` elsewhere."""
    if m.stays:
        then, orelse = orelse, then  # the condition says that it stays
    (first, more), (head, rest) = _parted(then, s), _parted(orelse, s)
    if first is None or more is None or head is not s or rest is None:
        return None
    scale = _factor(first, s, lambda e: _corrects(e, m.before, m.value))
    power = _power(rest, m.before, m.after)
    if power is None or power != scale:
        return None
    at_value = substitute(rest, {m.before: m.value})
    return _Sum(substitute(rest, {m.before: m.after}), power) if _same(_tidied(at_value), _tidied(more)) else None


def _same(a: eq.Expr, b: eq.Expr) -> bool:
    return a is b or (isinstance(a, eq.Const) and isinstance(b, eq.Const) and a.value == b.value)


def _tidied(e: eq.Expr) -> eq.Expr:
    """``w * exp(v - v)`` as ``w``."""
    memo: dict[eq.Expr, eq.Expr] = {}
    for n in topological((e,)):
        now = n
        if isinstance(n, eq.Op):
            args = tuple(memo[a] for a in n.args)
            now = eq.Op(n.name, args, n.type)
            if n.name in _EXPONENTIALS and isinstance(args[0], eq.Op) and args[0].name == "sub":
                a, b = args[0].args
                now = eq.Const(1.0, n.type) if a is b else now
            ones = [a for a in args if isinstance(a, eq.Const) and a.value == 1]
            if n.name == "mul" and ones:
                now = args[1] if ones[0] is args[0] else args[0]
        elif isinstance(n, eq.Cast) and n.type.is_inexact and isinstance(memo[n.arg], eq.Const):
            now = memo[n.arg]
        memo[n] = now
    return memo[e]


def _parted(update: eq.Expr, s: eq.Expr) -> tuple[eq.Expr | None, eq.Expr | None]:
    """The one term of a sum that holds ``s``, and the sum of the others."""
    match update:
        case eq.Op(name="add", args=(a, b)) if holds(a, s) != holds(b, s):
            inner, outer = (a, b) if holds(a, s) else (b, a)
            head, rest = _parted(inner, s)
            return head, outer if rest is None else simplify.op("add", (rest, outer), update.type)
        case eq.Op(name="sub", args=(a, b)) if holds(a, s) and not holds(b, s):
            head, rest = _parted(a, s)
            less = simplify.op("neg", (b,), b.type)
            return head, less if rest is None else simplify.op("sub", (rest, b), update.type)
        case eq.Cast(arg=a, type=t) if t.is_inexact and a.type.is_inexact:
            return _parted(a, s)
    return update, None


def _scaled(head: eq.Expr, s: eq.Expr, m: _Extremum) -> Power | None:
    """The power that ``s`` is multiplied by from one extremum to the next."""
    if isinstance(head, eq.Op) and head.name == "select" and head.args[0] is m.changes and m.changes is not None:
        then, orelse = head.args[:0:-1] if m.stays else head.args[1:]
        return _factor(then, s, lambda e: _corrects(e, m.before, m.value)) if orelse is s else None
    return _factor(head, s, lambda e: _correction(e, m))


def _correction(e: eq.Expr, m: _Extremum) -> Power | None:
    """``exp(m - m')``, or that where m changes and 1 elsewhere."""
    if isinstance(e, eq.Op) and e.name == "select" and m.changes is not None and e.args[0] is m.changes:
        then, orelse = e.args[:0:-1] if m.stays else e.args[1:]
        return _corrects(then, m.before, m.value) if isinstance(orelse, eq.Const) and orelse.value == 1 else None
    same = isinstance(e, eq.Op) and e.name == "select" and isinstance(e.args[1], eq.Const) and e.args[1].value == 1
    if same and isinstance(e, eq.Op) and isinstance(e.args[0], eq.Op) and e.args[0].name == "eq":
        return _corrects(e.args[2], m.before, m.after) if set(e.args[0].args) == {m.before, m.after} else None
    return _corrects(e, m.before, m.after)


def _factor(head: eq.Expr, s: eq.Expr, power: Callable[[eq.Expr], Power | None]) -> Power | None:
    """The power of the only factor beside ``s``."""
    match head:
        case eq.Op(name="mul", args=(a, b)) if a is s and not holds(b, s):
            return power(b)
        case eq.Op(name="mul", args=(a, b)) if b is s and not holds(a, s):
            return power(a)
    return None


def _corrects(e: eq.Expr, before: eq.Expr, after: eq.Expr) -> Power | None:
    """The power of ``after`` in ``exp(k * (before - after))``."""
    while isinstance(e, eq.Cast) and e.type.is_inexact and e.arg.type.is_inexact:
        e = e.arg
    if not isinstance(e, eq.Op) or e.name not in _EXPONENTIALS:
        return None
    parts = _linear(e.args[0], (before, after))
    first, last = (parts.get(x) if parts is not None else None for x in (before, after))
    if parts is None or None in parts or first is None or last is None:
        return None
    return (e.name, *last) if first == (-last[0], last[1]) else None


Scale = tuple[int, tuple[eq.Expr, ...]]


def _linear(e: eq.Expr, nodes: tuple[eq.Expr, ...]) -> dict[eq.Expr | None, Scale] | None:
    """What multiplies each of the nodes in a sum, where each stands once; None: what is left (a scale that says
    nothing); None where the sum is none of these."""
    if e in nodes:
        return {e: (1, ())}
    if not any(holds(e, x) for x in nodes):
        return {None: (1, ())}
    match e:
        case eq.Op(name="add" | "sub" as name, args=(a, b)):
            x, y = _linear(a, nodes), _linear(b, nodes)
            if x is None or y is None or any(k is not None and k in x for k in y):
                return None
            return x | {k: ((-s if name == "sub" else s), f) for k, (s, f) in y.items()}
        case eq.Op(name="neg", args=(a,)):
            x = _linear(a, nodes)
            return None if x is None else {k: (-s, f) for k, (s, f) in x.items()}
        case eq.Op(name="mul", args=(a, b)) if not any(holds(b, x) for x in nodes):
            return _times(_linear(a, nodes), b)
        case eq.Op(name="mul", args=(a, b)) if not any(holds(a, x) for x in nodes):
            return _times(_linear(b, nodes), a)
        case eq.Cast(arg=a, type=t) if t.is_inexact and a.type.is_inexact:
            return _linear(a, nodes)
    return None


def _times(parts: dict[eq.Expr | None, Scale] | None, by: eq.Expr) -> dict[eq.Expr | None, Scale] | None:
    return None if parts is None else {k: (s, (*f, by)) for k, (s, f) in parts.items()}


def power_of(e: eq.Expr, m: eq.Expr) -> Power | None:
    """The one power of ``m`` that every term of ``e`` has as a factor; None where they have different ones, or none."""
    return _power(e, m, eq.Param("$nothing", m.type))


_ANY: Power = ("", 0, ())  # of zero


def _power(e: eq.Expr, m: eq.Expr, other: eq.Expr) -> Power | None:
    """The one power of ``m`` that every term of ``e`` has as a factor; None where they have different ones, or none."""
    memo: dict[eq.Expr, Power | None | bool] = {}  # False: free of it
    order = topological((e,), lambda n: _below(n) if holds(n, m) or holds(n, other) else ())
    for n in order:
        memo[n] = _own_power(n, m, other, memo)
    found = memo[e]
    return found if isinstance(found, tuple) and found is not _ANY else None


def _below(n: eq.Expr) -> tuple[eq.Expr, ...]:
    match n:
        case eq.Op(name="add" | "sub" | "mul" | "div" | "neg", args=args):
            return args
        case eq.Op(name="select", args=(_, a, b)):
            return a, b
        case eq.Reduce(body=body):
            return (body,)
        case eq.Cast(arg=arg):
            return (arg,)
    return ()


def _own_power(n: eq.Expr, m: eq.Expr, other: eq.Expr, memo: dict[eq.Expr, Power | None | bool]) -> Power | None | bool:
    if n is not m and not holds(n, m) and not holds(n, other):
        return _ANY if isinstance(n, eq.Const) and n.value == 0 else False
    match n:
        case eq.Op(name=name, args=(a,)) if name in _EXPONENTIALS:
            parts = None if holds(a, other) else _linear(a, (m,))
            scale = None if parts is None else parts.get(m)
            return None if scale is None else (name, *scale)
        case eq.Op(name="add" | "sub", args=args):
            return _alike(*(memo[a] for a in args))
        case eq.Op(name="select", args=(condition, a, b)) if not (holds(condition, m) or holds(condition, other)):
            return _alike(memo[a], memo[b])
        case eq.Op(name="neg", args=(a,)) | eq.Cast(arg=a):
            return memo[a]
        case eq.Op(name="mul", args=(a, b)):
            powers = [memo[x] for x in (a, b)]
            if None in powers or False not in powers:
                return None
            return powers[1 - powers.index(False)]
        case eq.Op(name="div", args=(a, b)):
            return memo[a] if memo[b] is False else None
        case eq.Reduce(op="add", body=body, axes=axes, where=where):
            bounds = [x for a in axes for x in (a.lo, a.hi)] + ([] if where is None else [where])
            return None if any(holds(x, y) for x in bounds for y in (m, other)) else memo[body]
    return None


def _alike(a: Power | None | bool, b: Power | None | bool) -> Power | None | bool:
    if a is _ANY or b is _ANY:
        return b if a is _ANY else a
    same = isinstance(a, tuple) and isinstance(b, tuple) and a[:2] == b[:2] and Counter(a[2]) == Counter(b[2])
    return a if same else None


__all__ = ["power_of", "rescaled"]
