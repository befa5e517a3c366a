"""While loops that count, as counted loops (Kernel IR to Kernel IR).

``while v < stop and more: …; v += step`` runs over ``range(v, stop, step)`` and leaves where ``more`` fails; ``do …
while`` likewise, with one round at least; ``while v-- > 0`` tests before it steps. The side condition: in every round
that another one follows, ``v`` moves by the same amount once, and nothing in the loop changes that amount or the bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kraise.ir import kernel as k
from kraise.ir import operations
from kraise.ir.types import BOOL, INT, ScalarType
from kraise.raising.loops.solved import solved
from kraise.raising.loops.touched import still
from kraise.raising.run.exits import with_common_end
from kraise.raising.run.liveness import assigned, reads

TURNED = {**operations.TURNED, "eq": "eq", "ne": "ne"}
NEGATED = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
TRUE, FALSE = k.Const(True, BOOL), k.Const(False, BOOL)


@dataclass(frozen=True)
class Counted:
    """What replaces the loop: ``before`` it, the loop, and ``after`` it (the variable's final value). ``exits``: the
    loop may end before its bound. ``ahead``: it ends where the variable, which wraps, is at the bound: that must be
    ahead of it. ``once``: there is one round at least."""

    var: str
    before: tuple[k.Stmt, ...]
    loop: k.For
    after: tuple[k.Stmt, ...]
    exits: bool = False
    ahead: bool = False
    once: bool = False


@dataclass(frozen=True)
class _Bound:
    """``var relation stop`` must hold for a round; ``var`` moves by ``step`` and the gap to ``stop`` shrinks by
    ``closing`` in every round (both the same where the stop stays)."""

    var: str
    relation: str
    stop: k.Expr
    step: k.Expr
    closing: k.Expr
    kind: ScalarType
    below: bool = False  # the stop is the number below zero, as an unsigned type spells it

    @property
    def ahead(self) -> bool:
        """Whether the variable wraps round to a stop that is not ahead of it."""
        return self.relation == "ne" and (self.kind.kind == "uint" or (self.kind.bits or 32) < 32)

    @property
    def upwards(self) -> bool:
        return self.relation in ("lt", "le") or (self.relation == "ne" and self.known == 1)

    @property
    def known(self) -> int | None:
        return self.step.value if isinstance(self.step, k.Const) else None  # type: ignore[return-value]


def counted(s: k.While, flag: str) -> Counted | None:
    """``s`` as a counted loop, or None. Its exits must be structured (:mod:`kraise.raising.run.exits`); ``flag`` is the
    name of a boolean that nothing else uses."""
    s = replace(s, body=with_common_end(s.body))
    found = _tested_within(s) if not s.test_last else None
    tested: tuple[k.Stmt, ...] = ()
    condition, body = s.condition, s.body
    if found is not None:
        condition, tested, body = found
    conjuncts = [c for c in conjuncts_of(condition) if c != TRUE]
    flags = [c for c in conjuncts if flag_of(c) is not None]
    names = frozenset(f for c in flags if (f := flag_of(c)) is not None)
    for c in conjuncts:
        bound = None if c in flags else _bound(c, (*tested, *body), names, bool(flags) or len(conjuncts) > 1)
        if bound is not None:
            rest = [x for x in conjuncts if x is not c and x not in flags]
            bound, rest = _nearest(bound, rest, (*tested, *body), names)
            if tested and (rest or flags):
                return None
            return _made(s, bound, tested, body, flags, rest, flag)
    return None


def _made(
    s: k.While,
    b: _Bound,
    tested: tuple[k.Stmt, ...],
    body: tuple[k.Stmt, ...],
    flags: list[k.Expr],
    rest: list[k.Expr],
    flag: str,
) -> Counted:
    v, kind, span = b.var, b.kind, s.span
    first = k.Var(f"${v}$first", kind)
    before: list[k.Stmt] = [k.Assign(first.name, k.Var(v, kind), kind, span=span)]
    one = k.Const(1, INT)
    stop = b.stop
    if b.relation in ("le", "ge"):
        stop = k.Op("add" if b.relation == "le" else "sub", (stop, one), kind, span=span)
    if b.closing is not b.step:  # the stop moves, too: so many rounds as close the gap
        rounds = _rounds(first, stop, b.closing)
        before.append(k.Assign(f"${v}$stop", k.Op("add", (first, k.Op("mul", (rounds, b.step), kind)), kind), kind))
        stop = k.Var(f"${v}$stop", kind)
    if s.test_last:
        least = k.Op("add", (first, b.step), kind)
        stop = k.Op("max" if b.upwards else "min", (stop, least), kind, span=span)
    *others, last = body
    if not flags and not rest and not tested and isinstance(last, k.Assign) and last.name == v:
        loop = k.For(v, first, stop, b.step, tuple(others), type=kind, span=span)
        after: tuple[k.Stmt, ...] = (k.Assign(v, _final(first, stop, b, kind), kind, span=span),)
        return Counted(v, tuple(before), loop, after, ahead=b.ahead, once=s.test_last)
    fresh = f"{v}$round"
    body = (k.Assign(v, k.Var(fresh, kind), kind, span=span), *tested, *body)
    after = ()
    if tested:
        after = (k.Assign(v, _final(first, stop, b, kind), kind, span=span), *tested)
    alive = list(flags)
    if rest:
        before.append(k.Assign(flag, FALSE, BOOL, span=span))
        leave = (k.Assign(flag, TRUE, BOOL, span=span),)
        test = all_of(rest)
        if s.test_last:
            left: k.Stmt = k.If(test, (), leave, span=span)
            body = (*body, k.If(all_of(flags), (left,), span=span) if flags else left)
        else:
            body = (k.If(test, body, leave, span=span),)
        alive.append(k.Op("not", (k.Var(flag, BOOL),), BOOL))
    if alive:
        body = (k.If(all_of(alive), body, span=span),)
    loop = k.For(fresh, first, stop, b.step, body, type=kind, span=span)
    return Counted(v, tuple(before), loop, after, exits=bool(alive), ahead=b.ahead, once=s.test_last)


def all_of(conditions: list[k.Expr]) -> k.Expr:
    out = conditions[0]
    for c in conditions[1:]:
        out = k.Op("and", (out, c), BOOL)
    return out


# --- what is tested --------------------------------------------------------------------------


def conjuncts_of(e: k.Expr) -> Iterator[k.Expr]:
    if isinstance(e, k.Op) and e.name == "and":
        for a in e.args:
            yield from conjuncts_of(a)
    else:
        yield e


def flag_of(e: k.Expr) -> str | None:
    """The flag that must be clear."""
    match e:
        case k.Op(name="not", args=(k.Var(name=name),)) if name.startswith("$"):
            return name
    return None


def _tested_within(s: k.While) -> tuple[k.Expr, tuple[k.Stmt, ...], tuple[k.Stmt, ...]] | None:
    """``while True: t = v > 0; v -= 1; if not t: break; rest``: the condition ``t`` as it is on entry to a round, what
    comes before the exit, and the rest. Nothing else may leave the loop."""
    flags = [flag_of(c) for c in conjuncts_of(s.condition) if c != TRUE]
    if len(flags) != 1 or flags[0] is None:
        return None
    for at, x in enumerate(s.body):
        match x:
            case k.Assign():
                continue
            case k.If(condition=k.Op(name="not", args=(k.Var(name=t),)), body=leave, orelse=rest):
                if leave != (k.Assign(flags[0], TRUE, BOOL),) or s.body[at + 1 :] or flags[0] in assigned(rest):
                    return None
                tested = s.body[:at]
                value = next((y.value for y in tested if isinstance(y, k.Assign) and y.name == t), None)
                earlier = [y.name for y in tested[: [y.name for y in tested].index(t)]] if value is not None else []  # type: ignore[union-attr]
                if value is None or reads(value) & set(earlier) or assigned(tested).count(t) != 1:
                    return None
                return value, tested, rest
            case _:
                return None
    return None


# --- what moves ------------------------------------------------------------------------------


def _bound(c: k.Expr, body: tuple[k.Stmt, ...], flags: frozenset[str], exits: bool) -> _Bound | None:
    """``c`` as a bound on a variable that moves towards it."""
    if isinstance(c, k.Op) and c.name == "not" and isinstance(c.args[0], k.Op) and c.args[0].name in NEGATED:
        inner = c.args[0]
        c = k.Op(NEGATED[inner.name], inner.args, BOOL)
    if not isinstance(c, k.Op) or c.name not in ("lt", "le", "gt", "ge", "ne"):
        return None
    if not all(a.type.is_integer for a in c.args):
        return None
    for relation, (a, b) in ((c.name, c.args), (TURNED[c.name], c.args[::-1])):
        a, b = solved(relation, a, b, frozenset(assigned(body)))
        if not isinstance(a, k.Var):
            continue
        step = _moves(a.name, body, flags)
        if step is None or not still(step, body) or reads(step) & {*assigned(body)}:
            continue
        closing = step
        if isinstance(b, k.Var) and b.name in assigned(body):
            other = _moves(b.name, body, flags)
            if not isinstance(other, k.Const) or not isinstance(step, k.Const) or relation == "ne":
                continue
            closing = k.Const(step.value - other.value, INT)  # type: ignore[operator]
        elif reads(b) & {*assigned(body)} or not still(b, body):
            continue
        known = closing.value if isinstance(closing, k.Const) else None
        if relation == "ne":
            # the source ends: the bound is ahead; another exit could end it first
            if exits or known not in (1, -1):
                continue
        elif relation in ("lt", "le"):
            if known is not None and known <= 0:  # type: ignore[operator]
                continue
        elif known is None or known >= 0:  # type: ignore[operator]
            continue
        if closing is not step and step.value == 0:  # type: ignore[union-attr]
            continue
        if (a.type.bits or 32) < 32 and known not in (1, -1):
            continue  # it may wrap over the bound, and go on
        below = relation == "ne" and known == -1 and _is_below_zero(b, a.type)
        return _Bound(a.name, relation, k.Const(-1, INT) if below else b, step, closing, a.type, below)
    return None


def _nearest(
    b: _Bound, rest: list[k.Expr], body: tuple[k.Stmt, ...], flags: frozenset[str]
) -> tuple[_Bound, list[k.Expr]]:
    """``i < end and i < n`` as ``i < min(end, n)``: the bound with those of ``rest`` that bound the same variable by
    numbers, and the others."""
    left: list[k.Expr] = []
    for c in rest:
        other = _bound(c, body, flags, True)
        same = other is not None and (other.var, other.kind, other.step) == (b.var, b.kind, b.step)
        if other is None or not same or "ne" in (b.relation, other.relation) or not (_plain(b) and _plain(other)):
            left.append(c)
            continue
        stop = k.Op("min" if b.upwards else "max", (_beyond(b), _beyond(other)), b.kind)
        b = replace(b, relation="lt" if b.upwards else "gt", stop=stop)
    return b, left


def _plain(b: _Bound) -> bool:
    """Whether the stop stays and is made of numbers alone, of the variable's kind."""
    loads = any(isinstance(x, k.Load | k.Call | k.Warp) for x in _nodes(b.stop))
    return b.closing is b.step and not loads and b.stop.type.kind == b.kind.kind


def _nodes(e: k.Expr) -> Iterator[k.Expr]:
    yield e
    for a in e.args if isinstance(e, k.Op) else (e.arg,) if isinstance(e, k.Cast) else ():
        yield from _nodes(a)


def _beyond(b: _Bound) -> k.Expr:
    """The first value that is beyond the bound."""
    by = {"le": "add", "ge": "sub"}.get(b.relation)
    return b.stop if by is None else k.Op(by, (b.stop, k.Const(1, INT)), b.kind)


def _is_below_zero(e: k.Expr, t: ScalarType) -> bool:
    """``(unsigned)-1`` and ``0xffffffff``: where ``k--`` of an unsigned type goes from zero."""
    while isinstance(e, k.Cast) and e.type.is_integer:
        e = e.arg
    if isinstance(e, k.Op) and e.name == "neg" and e.args[0] == k.Const(1, e.args[0].type):
        return t.kind == "uint"
    value = e.value if isinstance(e, k.Const) else None
    return t.kind == "uint" and t.bits is not None and value in (-1, 2**t.bits - 1)


def _moves(v: str, body: tuple[k.Stmt, ...], flags: frozenset[str]) -> k.Expr | None:
    """The amount by which every round that another follows moves ``v``, or None."""
    steps = _steps(v, body, flags)
    if steps is None or len(steps) != 1:
        return None
    return steps[0]


def _steps(v: str, body: tuple[k.Stmt, ...], flags: frozenset[str]) -> list[k.Expr] | None:
    """The steps of ``v`` that no round leaves out but one that leaves the loop; None if one of them may be."""
    out: list[k.Expr] = []
    for s in body:
        match s:
            case k.Assign(name=name, value=value) if name == v:
                step = step_of(value, v)
                if step is None:
                    return None
                out.append(step)
            case k.If(condition=c, body=a, orelse=b) if v in assigned((s,)):
                if all(f in flags for x in conjuncts_of(c) for f in [flag_of(x)]) and v not in assigned(b):
                    inner = _steps(v, a, flags)
                elif leaves(a, flags) and v not in assigned(a):
                    inner = _steps(v, b, flags)
                elif leaves(b, flags) and v not in assigned(b):
                    inner = _steps(v, a, flags)
                else:
                    return None
                if inner is None:
                    return None
                out += inner
            case _ if v in assigned((s,)):
                return None
    return out


def update_of(name: str, body: tuple[k.Stmt, ...], flags: frozenset[str]) -> k.Expr | None:
    """What every round that another one follows assigns to ``name``, if it does so once."""
    own = [s for s in body if name in assigned((s,))]
    if len(own) != 1:
        return None
    match own[0]:
        case k.Assign(value=update):
            return update
        case k.If(condition=c, body=inner, orelse=other) if name not in assigned(other) and all(
            f in flags for x in conjuncts_of(c) for f in [flag_of(x)]
        ):
            return update_of(name, inner, flags)
        case k.If(body=inner, orelse=other) if leaves(inner, flags) and name not in assigned(inner):
            return update_of(name, other, flags)
        case k.If(body=inner, orelse=other) if leaves(other, flags) and name not in assigned(other):
            return update_of(name, inner, flags)
    return None


def leaves(body: tuple[k.Stmt, ...], flags: frozenset[str]) -> bool:
    """Whether ``body`` surely sets a flag that ends the loop."""
    return any(isinstance(s, k.Assign) and s.name in flags and s.value == TRUE for s in body)


def step_of(e: k.Expr, v: str) -> k.Expr | None:
    """The amount by which ``e`` is more than ``v``."""
    match e:
        case k.Op(name="add", args=(k.Var(name=n), amount)) if n == v and v not in reads(amount):
            return amount
        case k.Op(name="add", args=(amount, k.Var(name=n))) if n == v and v not in reads(amount):
            return amount
        case k.Op(name="sub", args=(k.Var(name=n), k.Const(value=int() as c, type=t))) if n == v:
            return k.Const(-c, INT if t.kind == "uint" else t)
        case k.Cast(arg=a):
            return step_of(a, v)
    return None


def _rounds(first: k.Expr, stop: k.Expr, step: k.Expr) -> k.Expr:
    """How many steps lead from ``first`` to ``stop`` or beyond, at least none."""
    kind = INT  # a gap may be negative, whatever the type of the variable
    gap = k.Op("sub", (stop, first), kind)
    if isinstance(step, k.Const):
        size: int = step.value  # type: ignore[assignment]
        gap = gap if size > 0 else k.Op("sub", (first, stop), kind)
        over = k.Op("add", (gap, k.Const(abs(size) - 1, kind)), kind)
        rounds = k.Op("floordiv", (over, k.Const(abs(size), kind)), kind)
    else:
        rounds = k.Op("neg", (k.Op("floordiv", (k.Op("neg", (gap,), kind), step), kind),), kind)
    return k.Op("max", (k.Const(0, kind), rounds), kind)


def _final(first: k.Expr, stop: k.Expr, b: _Bound, kind: ScalarType) -> k.Expr:
    """The variable when the condition first fails."""
    if b.below:
        return k.Const(2 ** (kind.bits or 32) - 1, kind)
    if b.known in (1, -1):
        return k.Op("max" if b.upwards else "min", (first, stop), kind)
    rounds = _rounds(first, stop, b.step)
    return k.Op("add", (first, k.Op("mul", (rounds, b.step), kind)), kind)
