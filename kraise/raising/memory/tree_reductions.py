"""Tree reductions in shared memory: ``if t < w: s[t] += s[t + w]`` with w halving, or doubling strides (raising.md,
step 6).

The loop's body is run once with w as an unknown. If all it does is to combine cell a with cell a + w of an array that
each block has of its own, for the threads that the tree wants, and a barrier ends the round, then cell 0 holds the
reduction of all cells at the end. The other cells are half-combined: nothing may read them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kraise.analysis.conditions import Fact, classify, conjunction
from kraise.analysis.dependence import implied
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.diagnostics import Refused
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.operations import ASSOCIATIVE
from kraise.ir.types import BOOL, INT, ScalarType
from kraise.ir.walk import free_indices
from kraise.raising.loops.powers import over_powers
from kraise.raising.loops.touched import stores
from kraise.raising.memory.phases import BARRIER, has_barrier, level
from kraise.raising.memory.private import held, holds_nothing
from kraise.raising.memory.tree_pairs import plain, put_back
from kraise.raising.memory.tree_steps import Steps, steps_of
from kraise.raising.memory.tree_threads import (
    bit_by_bit,
    cells,
    cx_index,
    enough_threads,
    of_one_warp,
    one_thread_a_cell,
    pinned,
    uncast,
)
from kraise.raising.run import simplify
from kraise.raising.run.bits import power_of_two
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned
from kraise.raising.run.state import Raw, RawWrite, State
from kraise.raising.run.values import resolve, truth, value
from kraise.raising.writes.accumulate import neutral_of

ZERO, ONE = eq.Const(0, INT), eq.Const(1, INT)


def tree(cx: Context, st: State, s: k.While, live: frozenset[str]) -> bool:
    """Runs the loop if it is a tree reduction; returns False, having done nothing, if it is not."""
    from kraise.raising.run.statements import block

    by_block = has_barrier(cx, s.body)
    if s.test_last or not s.body or not (by_block or (cx.lanes() and has_barrier(cx, s.body, steps=True))):
        return False
    moved = [n for n in assigned(s.body) if n in st.env]
    made = {resolve(cx, st, a) for a in stores(s.body)}
    if not made or any(a not in st.locals or not st.locals[a].shared for a in made):
        return False
    copies = {n: cell for n in moved if (cell := _copied(cx, st, n, made)) is not None}
    names = [n for n in moved if n not in copies]
    if len(names) != 1:
        return False
    (name,) = names
    inner = st.copy()
    inner.before, inner.out = [*st.before, *st.out], []
    w = eq.Index(f"${name}", INT)
    entries = {a: cx.version(a) for a in sorted(made)}
    inner.versions |= entries
    inner.env[name] = w
    inner.env |= {n: eq.Read(entries[a], subs, st.locals[a].type) for n, (a, subs) in copies.items()}
    inner.path = (*inner.path, eq.Op("ge", (w, ONE), BOOL))
    accesses_from = len(inner.accesses)
    condition = truth(cx, inner, s.condition)
    barriers = dict(cx.barriers)
    try:
        with level(cx, inner, s.body, w.name):
            block(cx, inner, s.body, live | {name})
    except Refused:
        cx.barriers = barriers
        return False
    inner.out, sums = plain([bit_by_bit(r) for r in inner.out])
    steps = steps_of((*st.path, *st.facts), st.env[name], inner.env[name], condition, w)
    own = inner.accesses[accesses_from:]
    if steps is None or any(a.array not in made | {BARRIER} for a in own) or (steps.up and name in live):
        cx.barriers = barriers
        return False
    found = [_combined(cx, st, r, w, steps, entries) or _scanned(cx, st, r, w, steps, entries) for r in inner.out]
    if not by_block and not all(of_one_warp(cx, st, r) for r in inner.out):
        found = [None]
    passed = (n for level_, n in cx.barriers.items() if level_ not in barriers and cx.rounds.get(level_) == w.name)
    if not by_block and not any(steps_ for _, _, steps_ in passed):
        found = [None]  # some lanes do not come to it
    kept = all(_follows(inner.env[n], inner.out, a, subs, st.locals[a].type) for n, (a, subs) in copies.items())
    if None in found or len(found) != len(made) or not kept:
        cx.barriers = barriers
        return False
    left = put_back(cx, st, [f.raw for f in found if f is not None], sums)
    if left is None or (sums and (copies or any(f.whole for f in found if f is not None))):
        cx.barriers = barriers
        return False
    found = [replace(f, raw=raw) for f, raw in zip(filter(None, found), left, strict=True)]
    if any(f.checked for f in found if f is not None):
        _power_of_two(cx, steps.size)
    # the cells of one round are apart: only what the loop does to the accesses around it is left to prove
    label = "" if any(f.whole for f in found if f is not None) else f"tree {len(cx.barriers)}"
    within = steps.within(w) if made & (cx.parts | cx.pitched) else ()
    st.accesses += [replace(a, path=(*a.path, *within), together=label) for a in own]
    st.order = inner.order
    for f in found:
        assert f is not None
        st.out.append(f.raw)
        st.versions[f.raw.after.array] = f.raw.after
        if f.whole:
            continue
        cx.trees.add(f.raw.after)
        cx.clobbered.add(f.raw.after)
        for n, (a, subs) in copies.items():
            if a == f.raw.after.array:  # the local of the one thread whose cell it is
                st.env[n] = f.raw.value
                for s_, t_ in zip(subs, f.raw.subscripts, strict=True):
                    if s_ is not t_:
                        st.partial[n] = eq.Op("eq", (s_, t_), BOOL)
    if name in live:
        st.env[name] = ZERO if steps.down else to_expr(steps.size)
    cx.note(f"tree reduction (line {s.span.line if s.span else '?'}): a reduction over the block's axis")
    return True


def tree_of_powers(cx: Context, st: State, s: k.For, live: frozenset[str]) -> bool:
    """The same of a loop over the exponents: ``s[t] += s[t + 2 ** k]``."""
    if not has_barrier(cx, s.body) or (found := over_powers(cx, st, s, live)) is None:
        return False
    first, powers = found
    trial = st.copy()
    trial.env[first.name] = value(cx, trial, first.value)
    if not tree(cx, trial, powers, live):
        return False
    trial.env.pop(first.name)
    st.become(trial)
    return True


def _copied(cx: Context, st: State, name: str, made: set[str]) -> tuple[str, tuple[eq.Expr, ...]] | None:
    """The array and the cell of this thread that hold what local ``name`` does (``s[t] = sum = sum + s[t + w]``)."""
    for a in sorted(made):
        last = next((r for r in reversed(st.out) if isinstance(r, RawWrite) and r.after.array == a), None)
        if last is not None and held(cx, st, a, last.subscripts) is st.env[name]:
            return a, last.subscripts
    return None


def _follows(after: eq.Expr, raws: list[Raw], array: str, subs: tuple[eq.Expr, ...], element: ScalarType) -> bool:
    """Whether the local is what its cell is after the round."""
    for r in raws:
        if isinstance(r, RawWrite) and r.after.array == array and r.subscripts == subs and r.accumulate:
            own = eq.Read(r.before, subs, element)
            new = simplify.op(r.accumulate, (own, r.value), after.type)
            arms = after.args[1:] if isinstance(after, eq.Op) and after.name == "select" else (after, own)
            return own in arms and any(
                isinstance(x, eq.Op) and x.name == r.accumulate and set(x.args) == {own, r.value} or x is new
                for x in arms
            )
    return False


@dataclass(frozen=True)
class _Found:
    raw: RawWrite
    checked: bool  # the size must be a power of two
    whole: bool = False  # every cell has its value at the end


def _combined(
    cx: Context, st: State, r: object, w: eq.Index, steps: Steps, entries: dict[str, eq.Version]
) -> _Found | None:
    """What the tree leaves in cell 0, if ``r`` is its step: cell a combined with cell a + w by the threads that it
    takes."""
    if not isinstance(r, RawWrite) or r.accumulate not in ASSOCIATIVE or r.before is not entries[r.before.array]:
        return None
    other = uncast(r.value)
    if not isinstance(other, eq.Read) or other.version is not r.before or len(other.subscripts) != len(r.subscripts):
        return None
    gaps = [to_poly(b) - to_poly(a) for a, b in zip(r.subscripts, other.subscripts, strict=True)]
    moved = [d for d, g in enumerate(gaps) if g.terms]
    if len(moved) != 1 or steps.plain(gaps[moved[0]], w) != steps.gap(w):
        return None
    (d,) = moved
    given, r = r, pinned(cx, st, r, w)
    if not one_thread_a_cell(cx, st, given, r):
        return None
    cell = to_poly(r.subscripts[d])
    bound = _threads(cx, st, r, cell, w, steps)
    if bound is None:
        return None
    last, checked = bound
    for (kind, hinted), e in cx.threads.items():
        if kind == "thread" and steps.size.value is not None and cell == to_poly(e):
            cx.hints[hinted] = steps.size.value
    array = r.before.array
    axes, place = cells(cx, st, cell, steps.size) if last is None else ((), ZERO)
    if not axes:
        x = cx_index(cx, st)
        axes, place = (eq.Axis(x.name, ZERO, to_expr(steps.size)),), x
    subs = tuple(place if at == d else s for at, s in enumerate(r.subscripts))
    inside = [eq.Op("ge", (eq.Index(a.name, INT), ZERO), BOOL) for a in axes]
    inside += [eq.Op("lt", (eq.Index(a.name, INT), a.hi), BOOL) for a in axes]
    more: list[eq.Expr] = [] if last is None else [eq.Op("lt", (place, last), BOOL)]
    view = replace(st, path=(*st.path, *inside, *more))
    body = held(cx, view, array, subs)
    if body is None:
        if st.versions[array] in cx.clobbered:
            return None  # another tree has left its cells half-combined
        body = eq.Read(st.versions[array], subs, other.type)
    total = eq.Reduce(r.accumulate, axes, body, conjunction(more), body.type)
    target = tuple(ZERO if at == d else s for at, s in enumerate(r.subscripts))
    if not enough_threads(cx, st, cell, steps):
        return None
    if last is not None and to_poly(last).indices():
        # a block beyond the bound combines nothing: its cell 0 is as it was
        beyond = replace(st, path=(*st.path, eq.Op("le", (last, ZERO), BOOL)))
        if not holds_nothing(cx, beyond, array, target, neutral_of(r.accumulate, body)):
            return None
    names = frozenset().union(*(free_indices(s) for s in target))
    loops = tuple(n for n in r.loops if n in names or n in cx.blocks)
    path = tuple(c for c in st.path if not free_indices(c) & (set(st.open) - set(loops) - set(st.folds)))
    raw = RawWrite(st.versions[array], cx.version(array), loops, path, target, total, "", (), r.span)
    return _Found(raw, checked)


def _scanned(
    cx: Context, st: State, r: object, w: eq.Index, steps: Steps, entries: dict[str, eq.Version]
) -> _Found | None:
    """``if t >= w: s[t] += s[t - w]`` with w doubling: the running sums of the block (Hillis and Steele)."""
    if steps.down or not isinstance(r, RawWrite) or r.accumulate not in ASSOCIATIVE:
        return None
    array = r.before.array
    neutral = neutral_of(r.accumulate, r.value)
    if r.before is not entries[array] or neutral is None:
        return None
    other, guards = r.value, [c for c in r.path if c not in st.path and c is not eq.Op("ge", (w, ONE), BOOL)]
    if isinstance(other, eq.Op) and other.name == "select" and _is(other.args[2], neutral):
        guards.append(other.args[0])
        other = uncast(other.args[1])
    if not isinstance(other, eq.Read) or other.version is not r.before or len(other.subscripts) != len(r.subscripts):
        return None
    gaps = [to_poly(a) - to_poly(b) for a, b in zip(r.subscripts, other.subscripts, strict=True)]
    moved = [d for d, g in enumerate(gaps) if g.terms]
    if len(moved) != 1 or gaps[moved[0]] != to_poly(w):
        return None
    (d,) = moved
    if not one_thread_a_cell(cx, st, r, r):
        return None
    cell = to_poly(r.subscripts[d])
    at_least = Fact("ge", cell - to_poly(w))
    facts = [classify(c) for c in guards]
    if at_least not in facts or any(f != at_least and not _below(f, cell, steps) for f in facts):
        return None
    own = [(kind, axis) for (kind, axis), e in cx.threads.items() if kind == "thread" and to_poly(e) == cell]
    if not own or steps.size != to_poly(cx.threads["blockDim", own[0][1]]):
        return None  # every cell must have its thread
    x = cx_index(cx, st)
    subs = tuple(x if at == d else s for at, s in enumerate(r.subscripts))
    inside = (eq.Op("ge", (x, ZERO), BOOL), eq.Op("lt", (x, to_expr(steps.size)), BOOL))
    body = held(cx, replace(st, path=(*st.path, *inside)), array, subs)
    if body is None:
        if st.versions[array] in cx.clobbered:
            return None  # another tree has left its cells half-combined
        body = eq.Read(st.versions[array], subs, other.type)
    total = eq.Scan(r.accumulate, eq.Axis(x.name, ZERO, to_expr(steps.size)), body, neutral, True, False, body.type)
    names = frozenset().union(*(free_indices(s) for s in subs))
    loops = (*(n for n in r.loops if n in names or n in cx.blocks), x.name)
    path = tuple(c for c in st.path if not free_indices(c) & (set(st.open) - set(loops) - set(st.folds)))
    raw = RawWrite(st.versions[array], cx.version(array), loops, (*path, *inside), subs, total, "", (), r.span)
    return _Found(raw, False, True)


def _is(e: eq.Expr, neutral: eq.Expr) -> bool:
    e = uncast(e)
    if not isinstance(e, eq.Const) or not isinstance(neutral, eq.Const):
        return False
    a, b = e.value, neutral.value
    return not isinstance(a, complex) and not isinstance(b, complex) and str(float(a)) == str(float(b))


def _below(fact: Fact | None, cell: Poly, steps: Steps) -> bool:
    """Whether the fact is ``cell < size``, which holds for every thread."""
    return fact is not None and fact == Fact("ge", steps.size - cell - 1)


def _threads(
    cx: Context, st: State, r: RawWrite, cell: Poly, w: eq.Index, steps: Steps
) -> tuple[eq.Expr | None, bool] | None:
    """Checks that ``r`` happens for just the cells that a round combines. Returns the bound on the data, if there is
    one (``a + w < bound``), and whether the size must be a power of two; None if it is not so."""
    conditions = [c for c in r.path if c not in st.path and c is not eq.Op("ge", (w, ONE), BOOL)]
    step = to_poly(w)
    bound: eq.Expr | None = None
    right = False
    for c in conditions:
        fact = classify(c)
        if fact is None:
            return None
        if fact.kind == "ge" and (fact.poly + cell + 1).terms:
            limit = steps.plain(fact.poly, w) + cell + 1  # cell < limit
            if steps.down and limit == steps.taking(w):
                right = True
                continue
            if steps.up and limit == steps.gap(w):
                continue  # one more thread than there are pairs, perhaps
            if not steps.down and cell == cell_of_pairs(cell, step) and limit == steps.size:
                right = True
                continue
            limit = limit + steps.gap(w)  # cell + w < limit
            if w.name not in limit.indices() and not limit.indices() & (set(st.open) - set(cx.blocks)):
                bound = to_expr(limit) if limit != steps.size else bound
                if limit == steps.size and not steps.down:
                    bound = to_expr(limit)
                continue
        if fact.kind == "eq" and not steps.down and _every_second(fact.poly, cell, step):
            right = True
            continue
        if implied(st.path, c):
            continue
        return None
    if not right:
        return None
    return bound, not steps.up and (steps.down or bound is None)


def cell_of_pairs(cell: Poly, step: Poly) -> Poly | None:
    """``cell`` if it is ``2 * w * t`` with t free of w."""
    (w,) = step.atoms()
    if any(w not in m or c % 2 for m, c in cell.terms.items()):
        return None
    return cell


def _every_second(poly: Poly, cell: Poly, step: Poly) -> bool:
    """Whether ``poly == 0`` says that cell is a multiple of 2 w."""
    if len(poly.terms) != 1:
        return False
    ((m, c),) = poly.terms.items()
    if len(m) != 1 or c not in (1, -1):
        return False
    match m[0]:
        case eq.Op(name="mod" | "tmod", args=(a, b)):
            return to_poly(a) == cell and to_poly(b) == step * 2
        case eq.Op(name="and_", args=(a, b)):
            return to_poly(a) == cell and to_poly(b) == step * 2 - 1
    return False


def _power_of_two(cx: Context, size: Poly) -> None:
    e = to_expr(size)
    named = isinstance(e, eq.Param)
    what = e.name.replace(".x", "") if named else "the number of threads that a tree reduction combines"  # type: ignore[union-attr]
    power_of_two(cx, size, what, "the tree reduction drops elements otherwise")


__all__ = ["tree", "tree_of_powers"]
