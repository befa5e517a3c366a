"""Loops of host functions: the slots and scalars that a round changes, and how it permutes pointers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.host_names import expression_names, fresh, live_before, reads, set_within
from kraise.ir.types import INT
from kraise.raising.hosts.apart import keep_places
from kraise.raising.hosts.going_round import going_round
from kraise.raising.hosts.state import Memory, State, View
from kraise.raising.hosts.stayed import held_back, put_back

if TYPE_CHECKING:
    from kraise.raising.hosts.flow import Flow
    from kraise.raising.hosts.function import Raising


def loop(flow: Flow, stmt: h.For | h.While, state: State, out: list[o.Stmt], after: frozenset[str]) -> None:
    """See :meth:`kraise.raising.hosts.flow.Flow.loop`."""
    r = flow.r
    going_round(stmt)
    var = stmt.var if isinstance(stmt, h.For) else ""
    tested = frozenset(expression_names(stmt.condition))
    live = after | tested
    for _ in range(2):
        live = live | live_before(stmt.body, live)
    live = live - {var}
    bounds = (None, None, None)
    if isinstance(stmt, h.For):
        bounds = tuple(_folded(r.scalar(e, state), state) for e in (stmt.start, stmt.stop, stmt.step))  # type: ignore[assignment]
    r.forget(set_within(stmt.body) | {var})
    keep_places(r, set_within(stmt.body) | {var}, state, out, stmt.span)
    rounds = _rounds(flow, stmt, bounds, state, out)
    scalars = sorted(set_within(stmt.body) & live & r.scalar_names)
    initial_scalars: list[h.Expr] = []
    for name in scalars:
        if name in state.scalars:
            kind = _type(flow, stmt, name)
            before = state.known.get(name)
            kept = before is not None and before.value in (0, 1)
            initial_scalars.append(before if kept and before is not None else k.Var(name, kind))
        else:
            kind = _type(flow, stmt, name)
            initial_scalars.append(k.Const(0.0 if kind.is_inexact else 0, kind))
    counting = isinstance(rounds, str)
    changed_scalars = set_within(stmt.body) | ({var} if var else set())
    state.known = {n: c for n, c in state.known.items() if n not in changed_scalars}
    head = state.copy()
    head.points = {n: v for n, v in head.points.items() if n in live}
    head.scalars |= {*scalars, *([var] if var else [])}
    carried: set[int] = set()
    back: dict[str, View] = {}
    while True:
        _save(flow, head, carried, out, stmt)
        state.values = dict(head.values)
        trial = head.copy()
        for c in carried:
            trial.values[c] = r.slots[c]
        depth, taken = len(r.slots), set(r.taken)
        lines: list[o.Stmt] = []
        start_values = dict(trial.values)
        condition = r.expr(stmt.condition, trial) if stmt.condition is not None else None
        flow.block(stmt.body, trial, lines, live | ({var} if var else set()) - {var})
        if apart := _apart(head, trial, lines, start_values):
            _without_slots(r, depth)
            r.taken = taken
            for slot, moved in apart:
                own = r.slot(moved[0], head)
                head.points.update((n, View(own)) for n in moved)
                head.values[own] = head.values.get(slot)
                r.frozen |= {slot, own}
            continue
        moves, unknown = _moves(head, trial)
        if still := held_back(head, trial, stmt, unknown):
            back |= {n: head.points.pop(n) for n in still}
            _without_slots(r, depth)
            r.taken = taken
            continue
        if unknown:
            for name in unknown:
                del head.points[name]
        changed = {
            s
            for s in _relevant(flow, head)
            if moves.get(s, s) != s or trial.values.get(s) != start_values.get(s) or _rebound(lines, start_values, s)
        }
        if changed <= carried and not unknown:
            break
        carried |= changed
        _without_slots(r, depth)
        r.taken = taken
    order = sorted(carried)
    names = (*(r.slots[c] for c in order), *scalars)
    initial = (*(h.Whole(head.values[c] or r.slots[c]) for c in order), *initial_scalars)
    nexts = (*(trial.values[moves.get(c, c)] or r.slots[c] for c in order), *scalars)
    arrays = (*(True for _ in order), *(False for _ in scalars))
    if counting:
        counter = str(rounds)
        names, nexts = (*names, counter), (*nexts, counter)
        initial, arrays = (*initial, k.Const(0, INT)), (*arrays, False)
        more = k.Op("add", (k.Var(counter, INT), k.Const(1, INT)), INT)
        lines.append(o.Let((counter,), more, stmt.span))
    out.append(
        o.Loop(names, initial, nexts, arrays, tuple(lines), var, *bounds, condition, span=stmt.span)  # type: ignore[arg-type]
    )
    flow.same_sizes({a: {b} for a, b in moves.items()})
    state.points = head.points | _made(trial, head, moves, after)
    state.scalars |= set(scalars)
    for c in order:
        state.values[c] = r.slots[c]
    _copied(flow, state, trial, dict(zip(nexts, order, strict=False)), after)
    count: k.Expr = k.Var(rounds, INT) if isinstance(rounds, str) else rounds
    if counting:
        state.scalars.add(str(rounds))
    stored = {s for s, v in trial.values.items() if v != start_values.get(s) or _rebound(lines, start_values, s)}
    _remember(state, trial, moves, count, stored)
    put_back(r, state, {n: v for n, v in back.items() if n in after}, lambda s: _orbit(s, moves), count, out, stmt)


def _without_slots(r: Raising, depth: int) -> None:
    """Forgets the slots from ``depth`` on."""
    del r.slots[depth:]
    r.frozen = {s for s in r.frozen if s < depth}


def _type(flow: Flow, stmt: h.For | h.While, name: str):  # type: ignore[no-untyped-def]
    from kraise.raising.hosts.flow import scalar_type

    return scalar_type(stmt.body, name)


def _rounds(flow: Flow, stmt: h.For | h.While, bounds: tuple, state: State, out: list[o.Stmt]) -> k.Expr | str:
    """How many rounds run: an expression, or the name of a counter that the loop must carry."""
    r = flow.r
    name = fresh(r.taken, "rounds")
    if isinstance(stmt, h.While) or stmt.condition is not None:
        return name
    start, stop, step = bounds
    constants = [int(b.value.real) for b in bounds if isinstance(b, k.Const)]
    if len(constants) == 3:
        return k.Const(len(range(*constants)), INT)
    if isinstance(stop, k.Op) and stop.name == "add" and stop.args[1] == start:  # for (k = 1; k <= n; k++)
        start, stop = k.Const(0, INT), stop.args[0]
    span = stop if start == k.Const(0, start.type) else k.Op("sub", (stop, start), INT)
    if step != k.Const(1, step.type):
        span = k.Op("floordiv", (k.Op("add", (span, k.Op("sub", (step, k.Const(1, INT)), INT)), INT), step), INT)
    out.append(o.Let((name,), k.Op("max", (span, k.Const(0, INT)), INT), stmt.span))
    return k.Var(name, INT)


def _made(trial: State, head: State, moves: dict[int, int], after: frozenset[str]) -> dict[str, View]:
    """Names that a round binds to memory that a name from before the loop has at its end too: they stay aliases.

    A loop of no rounds leaves such a name unbound, and the source has no meaning then.
    """
    ends = {end: slot for slot, end in moves.items()}
    found: dict[str, View] = {}
    for name in sorted(after - set(head.points)):
        view = trial.points.get(name)
        if view is not None and view.offset is None and view.slot in ends:
            found[name] = View(ends[view.slot])
    return found


def _copied(flow: Flow, state: State, trial: State, ends: dict[str, int], after: frozenset[str]) -> None:
    """Names that a round binds to a copy of what a carried array is at its end: they share its value after the loop.

    As in :func:`_made`, a loop of no rounds leaves them unbound. ``ends``: variable at the end of a round -> its slot.
    """
    r = flow.r
    for name in sorted(after - set(state.points)):
        view = trial.points.get(name)
        variable = None if view is None or view.offset is not None else trial.values.get(view.slot)
        if variable in ends:
            slot = r.slot(name, state)
            state.points[name] = View(slot)
            state.values[slot] = state.values[ends[variable]]  # type: ignore[index]


def _folded(e: k.Expr, state: State) -> k.Expr:
    """A bound with the constants that its variables hold on entry, and without sums with 0."""
    match e:
        case k.Var(name=name) if name in state.known:
            return state.known[name]
        case k.Op(name=name, args=args):
            moved = tuple(_folded(a, state) for a in args)
            if name in ("add", "sub") and isinstance(moved[1], k.Const) and moved[1].value == 0:
                return moved[0]
            if name == "max" and all(isinstance(a, k.Const) for a in moved):
                return max(moved, key=lambda a: a.value.real)  # type: ignore[union-attr]
            return k.Op(name, moved, e.type, span=e.span)
        case k.Cast(arg=arg):
            return k.Cast(e.type, _folded(arg, state), span=e.span)
    return e


def _relevant(flow: Flow, head: State) -> set[int]:
    kept = {s for m in head.memory.values() if m is not None for s in m.slots} if flow.r.implicit else set()
    return {v.slot for v in head.points.values()} | kept


def _save(flow: Flow, head: State, carried: set[int], out: list[o.Stmt], stmt: h.Stmt) -> None:
    """A value that outlives the loop must not stand under a variable that the loop binds anew."""
    r = flow.r
    bound = {r.slots[c] for c in carried}
    for s in sorted(_relevant(flow, head) - carried):
        value = head.values.get(s)
        if value in bound and r.slots[s] not in bound:
            out.append(o.Let((r.slots[s],), h.Whole(str(value)), stmt.span))
            head.values[s] = r.slots[s]


def _rebound(lines: list[o.Stmt], start: dict, slot: int) -> bool:
    from kraise.raising.hosts.flow import _bound

    value = start.get(slot)
    return value is not None and _bound(lines, value)


def _apart(head: State, trial: State, lines: list[o.Stmt], start: dict) -> list[tuple[int, list[str]]]:
    """Names that see the memory of a slot at the head of a round as others do, and not at its end: they get a slot of
    their own. ``h = x``, then ``h = out`` in a loop that reads ``x``.

    Side condition, checked: nothing writes to that memory in a round, and no name that does not see it at the head sees
    it at the end; :meth:`Raising.written` refuses later writes.
    """
    names: dict[int, list[str]] = {}
    for name, view in sorted(head.points.items()):
        names.setdefault(view.slot, []).append(name)
    found: list[tuple[int, list[str]]] = []
    for slot, group in names.items():
        ends = {n: v for n in group if (v := trial.points.get(n)) is not None}
        plain = len(ends) == len(group) and not any(v.offset or head.points[n].offset for n, v in ends.items())
        handed = any(v.slot == slot for n, v in trial.points.items() if n in head.points and n not in group)
        if not plain or handed or trial.values.get(slot) != start.get(slot) or _rebound(lines, start, slot):
            continue
        slots = sorted({v.slot for v in ends.values()})
        stays = slot if slot in slots else slots[0]
        found += [(slot, [n for n, v in ends.items() if v.slot == end]) for end in slots if end != stays]
    return found


def _moves(head: State, trial: State) -> tuple[dict[int, int], list[str]]:
    """Slot at the head of a round -> the slot whose value it takes at the end; names whose place is not known."""
    moves: dict[int, int] = {}
    unknown: list[str] = []
    for name, before in sorted(head.points.items()):
        after = trial.points.get(name)
        if after is None or after.offset != before.offset or moves.get(before.slot, after.slot) != after.slot:
            unknown.append(name)
        else:
            moves[before.slot] = after.slot
    targets = list(moves.values())
    for name, before in sorted(head.points.items()):  # two names that meet in one memory would be aliases
        if name not in unknown and targets.count(moves[before.slot]) > 1 and moves[before.slot] != before.slot:
            unknown.append(name)
    return moves, unknown


def _remember(state: State, trial: State, moves: dict[int, int], rounds: k.Expr, stored: set[int]) -> None:
    """Where the memory of each parameter is after the loop; ``stored`` are the slots that a round stores to."""
    orbits: dict[str, tuple[int, ...] | None] = {}
    for name, memory in state.memory.items():
        if memory is None:
            continue
        if all(moves.get(s, s) == s for s in memory.slots):
            if trial.memory.get(name) != memory:
                state.memory[name] = None
            continue
        orbits[name] = _orbit(memory.slots[0], moves) if memory.rounds is None else None
    written = trial.written
    for name, orbit in orbits.items():
        if orbit is None:
            state.memory[name] = None
        else:
            at = orbit[int(rounds.value.real) % len(orbit)] if isinstance(rounds, k.Const) else None
            state.memory[name] = Memory(orbit, rounds) if at is None else Memory((at,))
            # in one round or another each memory of the orbit is at each of its slots
            if stored & set(orbit):
                written = written | {name}
    state.written |= written


def _orbit(slot: int, moves: dict[int, int]) -> tuple[int, ...] | None:
    """The slots at which the memory that starts at ``slot`` is after 0, 1, 2, … rounds; None if it is lost."""
    back = {b: a for a, b in moves.items()}
    found = [slot]
    while True:
        at = back.get(found[-1])
        if at is None:
            return None
        if at == slot:
            return tuple(found)
        found.append(at)


__all__ = ["loop", "reads"]
