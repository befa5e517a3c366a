"""While loops: counted loops and searches where they are that, else folds whose finished lanes keep their state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from kraise.analysis.conditions import conjuncts, static_expr
from kraise.diagnostics import Refused, refuse
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices
from kraise.raising.checked import rely_on_places
from kraise.raising.loops.bisection import bisected
from kraise.raising.loops.bounded import Bounded, bounded, followed, unsigned_differences
from kraise.raising.loops.cells import Carried
from kraise.raising.loops.counted import Counted, counted
from kraise.raising.loops.doubling import doubling
from kraise.raising.loops.downwards import downwards
from kraise.raising.loops.float_counts import float_counted
from kraise.raising.loops.folds import FIRST, Folding, Sequential
from kraise.raising.loops.halving import halving
from kraise.raising.loops.lanes import within
from kraise.raising.loops.one_way import behind
from kraise.raising.loops.settled import Settled, settled
from kraise.raising.loops.whole import whole
from kraise.raising.run.arithmetic import index_like
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned, exposed, reads
from kraise.raising.run.paths import add_path, decided
from kraise.raising.run.state import State
from kraise.raising.run.values import truth, value


def while_loop(cx: Context, st: State, s: k.While, live: frozenset[str]) -> None:
    """A while loop: counted if its condition and last statement say so, else a fold whose finished lanes keep their
    state.

    A condition such as ``n < max_iter and …`` with ``n`` stepped in every round bounds the number of rounds: the fold
    then runs under that bound.
    """
    from kraise.raising.memory.tree_reductions import tree
    from kraise.raising.run.statements import block

    s = _tested_first(cx, st, whole(cx, st, s))
    if tree(cx, st, s, live) or bisected(cx, st, s, live):
        return
    signed = downwards(cx, st, s)
    if signed is not None:
        block(cx, st, signed, live)
        return
    flag = _unused(st, s, live)
    as_for = counted(s, flag) or doubling(cx, st, s, flag) or float_counted(st, s, flag)
    if as_for is not None and _counts(cx, st, as_for, live):
        return
    while_fold(cx, st, s, live)


def _tested_first(cx: Context, st: State, s: k.While) -> k.While:
    """``if (c) do … while (c);`` as ``while (c) …``."""
    if not s.test_last or not reads(s.condition) <= st.env.keys() - st.partial.keys():
        return s
    if any(isinstance(n, k.Load | k.Call | k.Warp) for n in walked(s.condition)):
        return s
    first = truth(cx, st.copy(), s.condition)
    known = decided(st, first) or {*conjuncts(first)} <= {*st.path}
    return replace(s, test_last=False) if known else s


def while_fold(cx: Context, st: State, s: k.While, live: frozenset[str]) -> None:
    """A while loop as a fold, whatever its form."""
    around = st.env.get(FIRST)  # of such a loop around this one
    _as_fold(cx, st, s, live)
    st.env.pop(FIRST, None)
    if around is not None:
        st.env[FIRST] = around


def _as_fold(cx: Context, st: State, s: k.While, live: frozenset[str]) -> None:
    if s.test_last:
        once = k.Op("or", (k.Var(FIRST, BOOL), s.condition), BOOL)
        st.env[FIRST] = eq.Const(True, BOOL)
        for n in sorted(reads(s.condition) - st.env.keys()):  # the first round gives it a value before it is tested
            kind = cx.types.get(n)
            if kind is None:  # what an atomic gave
                raise refuse("KR203", "what this loop tests at its end is the old value of an atomic", s.span)
            st.env[n] = eq.Const(False if kind.kind == "bool" else 0, kind)
        s = k.While(once, (k.Assign(FIRST, k.Const(False, BOOL), BOOL), *s.body), span=s.span)
    index = cx.index("round", st.open)
    fold = Folding(cx, st, s, index, live, Carried(), None)
    fold.enter(())

    def runs(inner: State) -> eq.Expr:
        condition = truth(cx, inner, s.condition)
        inner.path = add_path(inner.path, condition)
        return condition

    condition = fold.run(runs)
    assert condition is not None
    found = bounded(st, index, condition, fold.carries, fold.inits, fold.bare)
    exits: Settled | None = None
    if found is None:
        after = followed(st, index, condition, fold.carries, fold.inits, fold.bare)
        places = partial(rely_on_places, cx)
        bits = halving(condition, fold.carries, after, fold.inner, fold.accesses_from, fold.inits, places)
        if bits is not None:
            found = Bounded(eq.Axis(index.name, eq.Const(0, INT), bits), None)
            exits = settled(fold, condition)
    fold.close(None)
    _leave(cx, st, s, fold, condition, found, exits)
    st.facts = (*st.facts, *behind(st, s.body, condition, fold.carries, fold.inits))


def _leave(
    cx: Context,
    st: State,
    s: k.While,
    fold: Folding,
    condition: eq.Expr,
    found: Bounded | None,
    exits: Settled | None,
) -> None:
    """The fold, under its bound where it has one, put into the state around."""
    if found is not None:
        _not_below_zero(cx, found.differences)
        if found.first is not None and found.more is not None:
            fold.assume(found.first, found.more)
        fold.number(found.axis)
        if found.sure is not None and found.first is None:
            fold.assume(found.sure)
        if exits is not None:
            fold.final |= exits.results(fold)
        fold.leave(found.axis)
        st.rung(
            s.span,
            "while",
            "rung 2: a loop over whole arrays, to its static bound; lanes that are done keep their state",
        )
        return
    lanes = within(tuple(a for a in fold.lanes if a.name in free_indices(fold.mapped(condition))))
    still = fold.mapped(condition)
    if not lanes:  # one condition for all lanes: in a round that runs it holds
        fold.assume(condition)
    fold.leave(None, condition=eq.Reduce("or", lanes, still, None, BOOL) if lanes else still)
    st.rung(s.span, "while", "rung 2: a loop over whole arrays until all lanes are done: nothing bounds it statically")


def _fits(e: eq.Expr) -> bool:
    """Whether a number of a type that wraps is what it seems: an index, a size, what an array holds; no sum of such."""
    while isinstance(e, eq.Cast) and e.type.is_integer and (e.type.bits or 32) >= 32:
        e = e.arg
    return index_like(e) or not isinstance(e, eq.Op | eq.Cast)


def _unused(st: State, s: k.While, live: frozenset[str]) -> str:
    """A name for a flag."""
    taken = {*assigned((s,)), *exposed((s,), live), *live, *st.env}
    return next(n for n in map("$stop{}".format, range(1, len(taken) + 2)) if n not in taken)


def _signed(e: eq.Expr) -> eq.Expr:
    """A number before it was made unsigned."""
    while isinstance(e, eq.Cast) and e.type.kind == "uint" and e.arg.type.kind == "int":
        e = e.arg
    return e


def _no_wrapped_bound(cx: Context, st: State, found: Counted) -> None:
    """A loop that something else ends may have an unsigned bound that went round (``k < n - 5u and k < n``): the rounds
    are counted to the difference, which must not be below zero."""
    stop = value(cx, st.copy(), found.loop.stop)
    if static_expr(stop):
        _not_below_zero(cx, unsigned_differences(stop))


def _goes_round(cx: Context, st: State, found: Counted) -> bool:
    """Whether an unsigned counter starts at a number from which it passes the end of its type before it is done."""
    stop = found.loop.stop
    if found.once and isinstance(stop, k.Op):  # the greater one of it and what the first round leaves
        stop = stop.args[0]
    first, last = (value(cx, st.copy(), e) for e in (found.loop.start, stop))
    kind, by = found.loop.type, found.loop.step
    if not (isinstance(first, eq.Const) and isinstance(by, k.Const) and kind and kind.kind == "uint" and kind.bits):
        return False
    if found.once and first.value.real + by.value.real >= 2**kind.bits:
        return True
    return found.ahead and isinstance(last, eq.Const) and by.value.real > 0 and last.value.real < first.value.real


def _not_below_zero(cx: Context, differences: Iterable[eq.Expr]) -> None:
    for d in differences:
        check = eq.Op("ge", (d, eq.Const(0, INT)), BOOL)
        cx.checks.append((check, "the unsigned bound of a loop must not be below zero"))


def _counts(cx: Context, st: State, found: Counted, live: frozenset[str]) -> bool:
    """Runs a loop that counts; False, with nothing done, where its range depends on data, or where it has other exits
    and stays a loop all the same."""
    from kraise.raising.run.statements import block

    trial = st.copy()
    within = exposed(found.after, live)
    block(cx, trial, found.before, exposed((found.loop,), within))
    if found.ahead and found.loop.stop == k.Const(-1, INT) and isinstance(found.loop.start, k.Var):
        # what starts below zero, and so at the end, makes no round of those that the source means to end
        name = found.loop.start.name
        trial.env[name] = _signed(trial.env[name])
    if _goes_round(cx, trial, found):
        return False
    if found.ahead and not all(_fits(value(cx, trial.copy(), e)) for e in (found.loop.start, found.loop.stop)):
        return False
    try:
        cx.loop(trial, found.loop, within, free=found.exits)
    except Sequential:
        return False
    except Refused as refused:
        if any(d.code == "KR205" for d in refused.diagnostics):
            return False
        raise
    if found.exits:
        _no_wrapped_bound(cx, trial, found)
    block(cx, trial, found.after, live)
    st.become(trial)
    return True
