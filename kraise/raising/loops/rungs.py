"""Loops, best form first (raising.md, step 5).

A loop is run symbolically as if its rounds were free (*axis*): every carried scalar is a placeholder, every access is
recorded. If the rules settle all carried scalars and no dependence between rounds is broken, the loop is one more
index. If an array cell that does not move with the loop carries the dependence, the cell is treated as a scalar and the
loop is tried again. What is left stays sequential: a fold over whole arrays (:mod:`kraise.raising.loops.folds`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kraise.analysis.boxes import Unbounded
from kraise.analysis.conditions import conjunction, static_expr
from kraise.diagnostics import Diagnostic, Refused, refuse
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import INT
from kraise.ir.walk import free_indices, substitute
from kraise.raising.carried.freely import Exchanged
from kraise.raising.carried.problem import Problem, last_value, reduce_over
from kraise.raising.carried.rules import RULES, settle
from kraise.raising.loops.cells import (
    Carried,
    candidates,
    enter_cells,
    enter_moving,
    leave_cells,
    leave_moving,
    next_round,
)
from kraise.raising.loops.claimed import check_cells, check_scalars
from kraise.raising.loops.coarsened import shared_out
from kraise.raising.loops.counting import counted_stores
from kraise.raising.loops.dealt import dealt
from kraise.raising.loops.few import few_rounds
from kraise.raising.loops.folds import Sequential, fold_loop
from kraise.raising.loops.foreseen import NONE, Moves, foreseen
from kraise.raising.loops.grid_stride import grid_stride, upwards
from kraise.raising.loops.invariant import unswitched
from kraise.raising.loops.lanes_of_cells import lanes
from kraise.raising.loops.of_bits import written_out
from kraise.raising.loops.one_way import since_start
from kraise.raising.loops.order import dependence
from kraise.raising.loops.outside import from_outside
from kraise.raising.loops.own_rows import back_in_rows, own_rows
from kraise.raising.loops.placeholders import placeholders
from kraise.raising.loops.ranges import Range, from_afar, from_zero, in_its_part, in_multiples, unit_steps
from kraise.raising.loops.reach import reaching
from kraise.raising.loops.stepped import stepped
from kraise.raising.loops.strided import by_size, strided
from kraise.raising.loops.sunk import sunk
from kraise.raising.loops.touched import stores
from kraise.raising.loops.uniform import depending
from kraise.raising.loops.wavefront import wavefront
from kraise.raising.memory.phases import level
from kraise.raising.memory.tree_reductions import tree_of_powers
from kraise.raising.ragged.from_zero import in_its_row
from kraise.raising.ragged.loops import bounded, integral, longest, within
from kraise.raising.ragged.strided_rows import strided_rows
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import index_like, tidy
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import exposed
from kraise.raising.run.state import Raw, RawFold, RawWrite, State, expressions, map_access, map_raw
from kraise.raising.run.statements import block
from kraise.raising.run.values import resolve, value


def loop(cx: Context, st: State, s: k.For, live: frozenset[str], free: bool = False) -> None:
    """Runs a counted loop in ``st``.

    Raises:
        Refused: no form takes it.
        Sequential: its rounds were to be ``free``, and are not.
    """
    if not free and (tested := unswitched(s, live)) is not None:
        block(cx, st, (tested,), live)
        return
    if tree_of_powers(cx, st, s, live):
        return
    if (counts := own_rows(st, s)) is not None:
        loop(cx, st, counts[0], live, free)
        back_in_rows(st, counts[1])
        return
    start, stop, step = (integral(value(cx, st, e)) for e in (s.start, s.stop, s.step))
    if not isinstance(step, eq.Const) and (part := in_its_part(st, s, start, stop, live)) is not None:
        loop(cx, st, part, live, free)
        return
    cx.loop_ends |= free_indices(stop) & {*cx.blocks, *cx.thread_names}
    if (up := upwards(cx, st, s, start, stop, step)) is not None:
        loop(cx, st, up, live, free)
        return
    by_threads = (shared_out, grid_stride, dealt, strided, strided_rows)
    if any(form(cx, st, s, start, stop, step, live) for form in by_threads):
        return
    if (near := from_afar(s, start, stop)) is not None:
        loop(cx, st, near, live, free)
        return
    if not isinstance(step, eq.Const) and static_expr(step) and step.type.is_integer:
        if by_size(cx, st, s, start, stop, step, live):
            return
        loop(cx, st, unit_steps(cx, st, s, start, stop, step), live, free)
        return
    if not isinstance(step, eq.Const) and (multiples := in_multiples(cx, st, s, start, stop, step, live)) is not None:
        loop(cx, st, multiples, live, free)
        return
    if not isinstance(step, eq.Const) or type(step.value) is not int or step.value == 0:
        raise refuse(
            "KR205",
            "the step of this loop is not a number that is known here",
            s.span,
            "step by a constant or by a parameter, or count the rounds and multiply",
        )
    if (chunk := few_rounds(st, s, start, stop, step.value, live)) is not None:
        loop(cx, st, chunk, live, free)
        return
    if (row := from_zero(cx, st, s, start, stop, step.value, live)) is not None:
        loop(cx, st, row, live, free)
        return
    if (row := in_its_row(cx, st, s, start, stop, step.value, live)) is not None:
        loop(cx, st, row, live, free)
        return
    index = cx.index(s.var, st.open)
    rng = reaching(Range(index, start, stop, step.value), (*st.path, *st.facts))
    flat = False
    if not (index_like(start) and index_like(stop)) and not bounded(st, rng):
        inside = None if (s.span, s.var) in cx.longest else within(cx, st, s, rng, live)
        if inside is None:
            closed = _closed(cx, st, s, rng, live)
            if closed is not None:
                st.become(closed)
                return
            if free:
                raise Sequential
            longest(cx, st, s, rng, live)
            return
        rng, flat = replace(rng, within=(*rng.within, *inside.bounds)), inside.flat
        if flat:
            cx.ragged.setdefault(index.name, set()).add((s.span, s.var))
    declined: list[str] = []
    for body in dict.fromkeys((s.body, sunk(s.body))):
        s, carried, ahead = replace(s, body=body), Carried(), NONE
        for _ in range(3):
            try:
                outcome = _axis(cx, st, s, rng, live, carried, ahead)
            except Exchanged as exchanged:
                outcome = _Failed(exchanged.reason)
                if not ahead and (ahead := foreseen(cx, st, s, rng)):
                    continue
            if isinstance(outcome, State):
                st.become(outcome)
                return
            declined.append(outcome.reason)
            if not carried.adds(outcome.carried):
                break
            carried = carried.merged(outcome.carried)
    if free:
        raise Sequential
    if flat:
        longest(cx, st, s, rng, live, declined[-1])
        return
    if wavefront(cx, st, s, rng, live) or written_out(cx, st, s, rng, live):
        return
    try:
        fold_loop(cx, st, s, rng, live, carried)
    except Refused as refused:
        causes = tuple(Diagnostic("KR203", d, s.span) for d in dict.fromkeys(declined))
        first, *rest = refused.diagnostics
        if first.causes or not causes or first.code not in ("KR203",):
            raise
        raise Refused(replace(first, causes=causes), *rest) from None
    st.rung(s.span, index.name, f"rung 2: a loop over whole arrays, because {declined[-1]}")


def _closed(cx: Context, st: State, s: k.For, rng: Range, live: frozenset[str]) -> State | None:
    """The state after a loop that stores nothing and whose scalars have a closed form: its range need not be known."""
    try:
        outcome = _axis(cx, st, s, rng, live, Carried())
    except (Refused, Unbounded):
        return None
    return outcome if isinstance(outcome, State) and len(outcome.out) == len(st.out) else None


@dataclass(frozen=True)
class _Failed:
    """The loop's rounds are not free: why, and which cells might be carried as scalars instead."""

    reason: str
    carried: Carried = Carried()


def _axis(
    cx: Context, st: State, s: k.For, rng: Range, live: frozenset[str], carried: Carried, ahead: Moves = NONE
) -> State | _Failed:
    """The state after the loop if its rounds are free, else why not; ``ahead``: scalars that it carries, foreseen."""
    inner = st.copy()
    writes_from, accesses_from = len(inner.out), len(inner.accesses)
    bounds = rng.conjuncts()
    names = enter_cells(cx, inner, carried, s)
    slides = enter_moving(cx, inner, carried, rng, s)
    accesses_from = len(inner.accesses)
    inner.fences |= {resolve(cx, st, a): writes_from for a in stores(s.body)}
    # what a round finds in an array that it writes is told apart from what was loaded before the loop
    outside = {a: inner.versions[a] for a in (resolve(cx, st, x) for x in stores(s.body)) if a in inner.versions}
    entry = {a: cx.version(a) for a in sorted(outside)}
    inner.versions |= entry
    active = (
        *(local for _, local in inner.cells.values()),
        *(local for cells in inner.slides.values() for _, local in cells),
    )
    moves = stepped(cx, inner, s, rng) | ahead
    carries, inits = placeholders(cx, inner, s.body, rng.index.name, extra=active, var=s.var)
    carries = {n: c for n, c in carries.items() if n not in moves}
    along = depending(cx, inner, s, {n: inits[n] for n in carries}, bounds)
    cx.trials |= {(c.fold, n): along[n] for n, c in carries.items()}
    inner.env |= carries | {n: now for n, (now, _) in moves.items()}
    inner.env[s.var] = rng.index
    inner.partial.pop(s.var, None)  # another local of that name
    inner.open = (*inner.open, rng.index.name)
    inner.path = tuple(dict.fromkeys((*inner.path, *bounds)))
    inner.facts = (*inner.facts, *since_start(inner, s, carries, inits, rng))
    inner.entered[rng.index.name] = len(inner.before) + writes_from
    inner.walls |= {resolve(cx, st, a): len(inner.before) + writes_from for a in stores(s.body)}
    with level(cx, inner, s.body, rng.index.name, rng.step):
        block(cx, inner, s.body, live | exposed(s.body, live))
    next_round(inner, slides)
    accesses = inner.accesses[accesses_from:]
    carries = {n: c for n, c in carries.items() if n in inner.env}  # an inner loop may have left it without a value
    updates = {n: inner.env[n] for n in carries}
    raws = inner.out[writes_from:]
    used = [e for r in raws for e in expressions(r)] + list(inner.env.values())
    check_cells(cx, st, inner, s, rng.index.name, accesses)
    reason = dependence(cx, accesses, rng.index.name, rng.step, st, inner, used)
    tied = None if reason is None else _Failed(reason, candidates(accesses, st, rng.index, rng.step, bounds))
    versions = {a: (entry[a], outside[a]) for a in entry}
    cells = lanes(cx, st, inner, raws, accesses_from, versions, rng.index.name) if tied and carries else {}
    accesses = [a for a in accesses if a.array not in cells]
    counting = tied is not None and counted_stores(accesses, carries, updates)
    if tied and not counting and (not cells or dependence(cx, accesses, rng.index.name, rng.step, st, inner, used)):
        return tied

    # made in the body and read after the loop: the last round's values, for which running ones must be known, too
    leaving = [n for n in inner.env if n in live and n not in st.env and n not in carries and n != s.var]

    def uses() -> list[eq.Expr]:
        return [*(e for r in problem_raws for e in expressions(r)), *(inner.env[n] for n in leaving)]

    def folds() -> dict[str, list[eq.Expr]]:
        return {r.fold.name: expressions(r) for r in problem_raws if isinstance(r, RawFold)}

    problem_raws = [r for r in raws if not isinstance(r, RawWrite) or r.after.array not in cells]
    problem = Problem(
        rng.index,
        rng.start,
        rng.stop,
        rng.step,
        bounds,
        st.path,
        st.open,
        dict(carries),
        inits,
        updates,
        uses,
        list(carries),
        folds,
        cells={a: (cell.cell, cell.update, cell.init) for a, cell in cells.items()},
        demand=cx.has_one,
    )
    replaced: dict[eq.Expr, eq.Expr] = {}
    final = {n: end for n, (_, end) in moves.items()}
    forms: list[str] = []
    private = [
        n for n in problem.pending if not problem.used_in(n) and (_unread(n, live) or not _holds_self(problem, n))
    ]
    problem.pending = [n for n in problem.pending if n not in private]
    reasons: list[str] = []
    while problem.pending:
        check_scalars(s, problem, [])
        solved = settle(problem, RULES, reasons)
        if solved is None:
            check_scalars(s, problem, reasons)
            return tied or _Failed(reasons[-1] if reasons else "a scalar is carried")
        names_done, mapping, values, form = solved
        forms.append(form)
        final |= values
        problem.pending = [n for n in problem.pending if n not in names_done]
        problem.updates = {n: u for n, u in problem.updates.items() if n not in names_done}
        if mapping:
            fn = _mapper(mapping)
            problem_raws = [map_raw(r, fn) for r in problem_raws]
            problem.updates = {n: fn(u) for n, u in problem.updates.items()}
            problem.cells = {n: (cell, fn(update), init) for n, (cell, update, init) in problem.cells.items()}
            replaced = {key: fn(v) for key, v in replaced.items()} | mapping
            inner.accesses[accesses_from:] = [map_access(a, fn) for a in inner.accesses[accesses_from:]]
            inner.names = {fn(e): replace(n, expr=fn(e)) for e, n in inner.names.items()}
            inner.env = {n: fn(e) for n, e in inner.env.items()}
    if not cells.keys() <= final.keys():
        return tied or _Failed("a cell is carried")
    if replaced:
        used = [e for r in problem_raws for e in expressions(r)] + list(inner.env.values())
        alone = [a for a in inner.accesses[accesses_from:] if a.array not in cells]
        reason = dependence(cx, alone, rng.index.name, rng.step, st, inner, used)
        if reason is not None:
            return tied or _Failed(reason)
    elif counting:
        assert tied is not None
        return tied
    try:
        for n in private:
            if n in live or n.startswith("$"):
                final[n] = last_value(problem, n, inits.get(n))
    except ValueError:  # the result of a fold cannot be taken at one round
        return _Failed("the last round's result of an inner loop is used after the loop")
    # a name in the body for one round's value of what is carried would mislead
    misleading = carries.keys() - set(private)
    inner.names = {e: n for e, n in inner.names.items() if n.name not in misleading or e in st.names}
    for n, v in final.items():
        if not n.startswith("$") and not index_like(v):
            inner.names.setdefault(v, eq.Name(v, n, s.span))
    _leave(st, inner, s, rng, live, final, carries, problem)
    try:
        inner.out[writes_from:] = [_reduced(inner, r, rng.index.name, bounds, st) for r in problem_raws]
        inner.out += [cell.stored(final[a]) for a, cell in cells.items()]
    except Unbounded as unbounded:
        return _Failed(f"the range of {unbounded.name} is not known when the function is traced")
    from_outside(cx, st, inner, writes_from, accesses_from, {entry[a]: outside[a] for a in entry})
    leave_moving(inner, slides, st.slides)
    leave_cells(cx, inner, carried, names, s)
    text = ", ".join(dict.fromkeys(f for f in forms if f)) or "an index of the equations"
    inner.rung(s.span, rng.index.name, f"rung 1: no loop, {text}")
    return inner


def _unread(name: str, live: frozenset[str]) -> bool:
    """Whether nothing after the loop reads a local: a running value that only steps itself is no carry then."""
    return name not in live and not name.startswith("$")


def _holds_self(p: Problem, name: str) -> bool:
    from kraise.raising.writes.accumulate import holds

    return holds(p.updates[name], p.carries[name])


def _mapper(mapping: dict[eq.Expr, eq.Expr]):  # noqa: ANN202 - a closure
    return lambda e: tidy(substitute(e, mapping))


def _leave(
    st: State,
    inner: State,
    s: k.For,
    rng: Range,
    live: frozenset[str],
    final: dict[str, eq.Expr],
    carries: dict[str, eq.CarryIn],
    p: Problem,
) -> None:
    """Locals and context as they are after the loop."""
    env = {n: v for n, v in st.env.items() if n not in carries and n not in final}
    for n, v in inner.env.items():
        if n in final:
            env[n] = final[n]
        elif n in live and n not in st.env and n != s.var:
            # made in the body: a well-defined program reads it only if a round was run
            env[n] = tidy(p.at(v, p.last())) if rng.index.name in free_indices(v) else v
    if s.var in live:
        last = p.last()
        env[s.var] = last if s.var not in st.env else simplify.select(p.runs, last, st.env[s.var], INT)
    inner.env, inner.open, inner.path, inner.fences = env, st.open, st.path, dict(st.fences)
    inner.walls, inner.entered = dict(st.walls), dict(st.entered)


def _reduced(inner: State, r: Raw, index: str, bounds: tuple[eq.Expr, ...], st: State) -> Raw:
    """An accumulation whose cell does not depend on the loop's index adds up over the loop: the index is reduced
    here."""
    if not isinstance(r, RawWrite) or not r.accumulate or index not in r.loops:
        return r
    if any(index in free_indices(x) for x in r.subscripts):
        return r
    own = tuple(c for c in r.path if index in free_indices(c))
    rest = tuple(c for c in r.path if index not in free_indices(c))
    where = own
    others = tuple(n for n in r.loops if n != index)
    total = reduce_over(
        index,
        bounds,
        rest,
        (*others, *st.folds),
        r.accumulate,
        r.value,
        conjunction([c for c in where if c not in bounds]),
    )
    return replace(r, value=total, path=rest, loops=others)
