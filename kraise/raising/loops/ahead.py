"""Tiles in two buffers of shared memory, as tiles in one that are fetched ahead (Kernel IR to Kernel IR).

While a round uses ``s[t % 2]``, it fills ``s[(t + 1) % 2]`` for the next one. What a thread stores there may as well
wait in a local of its own, and be stored when the next round begins: then there is one buffer, and what waits is a
function of the round (:mod:`kraise.raising.loops.foreseen`).

The side conditions: all stores of the loop are to such arrays, in cells that do not move with the loop but for the
buffer, and the same ones are filled before the loop; each round loads from the buffer that the round before filled and
from no other; no round but the last leaves out the filling; barriers stand between each filling and the loads of the
round after it, and between each load and the filling of its buffer by the round after it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from kraise.analysis.dependence import implied
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.operations import COMPARISONS
from kraise.ir.rewrite import rewritten, walked
from kraise.ir.types import BOOL, INT, NUMBER
from kraise.raising.loops.unrolled import Numbers, maybe
from kraise.raising.run.liveness import assigned, exposed, reads

Stmts = tuple[k.Stmt, ...]
NAMING = (k.Load, k.Store, k.Atomic, k.ArrayRef)
Waiting = dict[tuple[str, tuple[k.Expr, ...]], k.Var]


@dataclass(frozen=True)
class OneBuffer:
    """What stands in place of the statements before a loop, of the loop, and of those behind it."""

    before: Stmts
    loop: Stmts
    behind: Stmts


def in_one_buffer(
    before: Stmts, loop: k.For, copies: Sequence[Stmts], states: Sequence[Numbers], behind: Stmts
) -> OneBuffer | None:
    """``copies``: the rounds of a turn, in which the numbers in ``states`` are decided; ``before`` and ``behind``: what
    stands around the loop in its block, with the numbers decided that are known there."""
    made = {x.name for x in before if isinstance(x, k.LocalArray) and x.space == "shared" and not x.dynamic}
    stored = {x.array for x in walked(copies) if isinstance(x, k.Store)}
    if not stored or not stored <= made or not _plain(copies) or any(_count(b, stored) == 0 for b in copies):
        return None
    places = {a: p for a in stored if (p := _buffer(a, copies)) is not None}
    if places.keys() != stored:
        return None
    bodies = {_zeroed(c, places) for c in (_without_numbers(c, copies) for c in copies)}
    if len(bodies) != 1:
        return None
    (body,) = bodies
    fills = [x for x in walked(body) if isinstance(x, k.Store)][::-1]
    moving = {loop.var, *assigned(body)}
    if any(reads(s) & moving or _loads(s) for x in fills for s in x.subscripts):
        return None
    if len({(x.array, x.subscripts) for x in fills}) != len(fills) or not _each_round_fills(loop, before, body):
        return None
    if any(_needs(body, x, stored) for x in fills) or not _ordered(body):
        return None
    first = next(iter(_slots(copies[0], places, k.Load).values()), 0)
    filled = _filled_before(before, fills, places, first)
    if filled is None or not _first_loads_wait(before, body, places):
        return None
    kinds = {x.name: x.element for x in before if isinstance(x, k.LocalArray)}
    waiting = {
        (x.array, x.subscripts): k.Var(f"${x.array}$ahead{n}", t if (t := kinds[x.array]) != NUMBER else x.value.type)
        for n, x in enumerate(fills)
    }
    start: Stmts = tuple(replace(x, value=waiting[x.array, x.subscripts]) for x in fills)
    after = _used_behind(behind, places, states, copies)
    if after is None or (after is not behind and not _last_loads_wait(before, body, behind, places)):
        return None
    barrier = k.Barrier(span=loop.span)
    new = replace(loop, body=(*start, barrier, *_waits(body, waiting), barrier))
    tail = (*start, barrier) if after is not behind else ()
    return OneBuffer(_waits(filled, waiting), (new, *tail), after)


# --- the buffers


def _buffer(array: str, copies: Sequence[Stmts]) -> int | None:
    """The place of the subscript that says which buffer it is, if each round loads what the round before filled."""
    subs = [x.subscripts for x in walked(copies) if isinstance(x, k.Load | k.Store) and x.array == array]
    for p in range(len(subs[0])):
        loads = [_slots(c, {array: p}, k.Load) for c in copies]
        stores = [_slots(c, {array: p}, k.Store) for c in copies]
        if any(len(x) != 1 or None in x.values() for x in (*loads, *stores)):
            continue
        turn = range(len(copies))
        read, write = ([x[array] for x in found] for found in (loads, stores))
        if all(write[j] == read[(j + 1) % len(copies)] and write[j] != read[j] for j in turn):
            return p
    return None


def _slots(stmts: object, places: dict[str, int], kind: type[k.Load] | type[k.Store]) -> dict[str, int | None]:
    """The buffer of each array that is loaded (or stored to); None where it is not one."""
    out: dict[str, int | None] = {}
    for x in walked(stmts):
        if isinstance(x, kind) and x.array in places:
            number = maybe(x.subscripts[places[x.array]], {})
            out[x.array] = number if out.get(x.array, number) == number else None
    return out


def _zeroed(stmts: Stmts, places: dict[str, int]) -> Stmts:
    """``stmts`` with the first buffer in place of each."""

    def visit(x: object) -> object:
        if isinstance(x, k.Load | k.Store) and x.array in places:
            p = places[x.array]
            subs: tuple[k.Expr, ...] = rewritten(x.subscripts, visit)
            subs = (*subs[:p], k.Const(0, subs[p].type), *subs[p + 1 :])
            if isinstance(x, k.Store):
                return replace(x, subscripts=subs, value=rewritten(x.value, visit))
            return replace(x, subscripts=subs)
        return None

    return rewritten(stmts, visit)  # type: ignore[no-any-return]


def _without_numbers(stmts: Stmts, copies: Sequence[Stmts]) -> Stmts:
    """A round without what it assigns to locals that are numbers in each, which nothing reads any more."""
    read = {x.name for x in walked(copies) if isinstance(x, k.Var)}

    def visit(x: object) -> object:
        if isinstance(x, k.Assign) and x.name not in read and maybe(x.value, {}) is not None:
            return ()
        return None

    return rewritten(stmts, visit)  # type: ignore[no-any-return]


# --- what is filled, and when


def _plain(copies: Sequence[Stmts]) -> bool:
    """Whether a round holds nothing else: no stores under loops, no barriers under branches."""
    for body in copies:
        for x in walked(body):
            if isinstance(x, k.While | k.Atomic | k.CallStmt | k.Call | k.Warp | k.ArrayRef | k.Return | k.LocalArray):
                return False
            if isinstance(x, k.For) and any(isinstance(y, k.Store) for y in walked(x.body)):
                return False
            if isinstance(x, k.Barrier) and (x.scope != "block" or not any(x is s for s in body)):
                return False
    return True


def _ordered(body: Stmts) -> bool:
    """Whether barriers stand between the filling of a buffer and the loads from it, and between these and the next
    filling."""
    barriers = [at for at, x in enumerate(body) if isinstance(x, k.Barrier)]
    fills = [at for at, x in enumerate(body) if any(isinstance(y, k.Store) for y in walked(x))]
    arrays = {y.array for y in walked(body) if isinstance(y, k.Store)}
    uses = [at for at, x in enumerate(body) if _count((x,), arrays, (k.Load,))]
    return all(
        any(b > p or b < q for b in barriers) and any(b > q or b < p for b in barriers) for p in fills for q in uses
    )


def _filled_before(before: Stmts, fills: list[k.Store], places: dict[str, int], first: int | None) -> Stmts | None:
    """The statements before the loop with the first buffer in place of the one that the first round loads from; None
    unless they fill just the cells that the rounds fill, each once and at their top level, and load none."""
    stores = [x for x in before if isinstance(x, k.Store) and x.array in places]
    if _count(before, places.keys()) != len(stores) or any(
        v != first for v in _slots(stores, places, k.Store).values()
    ):
        return None
    zeroed = _zeroed(tuple(stores), places)
    cells = [(x.array, x.subscripts) for x in zeroed if isinstance(x, k.Store)]
    if len(cells) != len(fills) or set(cells) != {(x.array, x.subscripts) for x in fills}:
        return None
    at = next(n for n, x in enumerate(before) if x is stores[0])
    used = {v for x in stores for s in x.subscripts for v in reads(s)}
    if used & {*assigned(before[at:])}:
        return None
    return _zeroed(before, places)


def _first_loads_wait(before: Stmts, body: Stmts, places: dict[str, int]) -> bool:
    """Whether a barrier stands between the filling before the loop and the loads of its first round."""
    last = max(n for n, x in enumerate(before) if isinstance(x, k.Store) and x.array in places)
    uses = [at for at, x in enumerate(body) if _count((x,), places.keys(), (k.Load,))]
    barriers = [at for at, x in enumerate(body) if isinstance(x, k.Barrier)]
    return _has_barrier(before[last:]) or all(any(b < q for b in barriers) for q in uses)


def _last_loads_wait(before: Stmts, body: Stmts, behind: Stmts, places: dict[str, int]) -> bool:
    """Whether barriers stand between the loads behind the loop and what fills the buffer, in the last round or before
    the first."""
    use = next(n for n, x in enumerate(behind) if _count((x,), places.keys()))
    if _has_barrier(behind[:use]):
        return True
    last = max(n for n, x in enumerate(before) if isinstance(x, k.Store) and x.array in places)
    fills = [at for at, x in enumerate(body) if any(isinstance(y, k.Store) for y in walked(x))]
    return _has_barrier(before[last:]) and _has_barrier(body[max(fills) + 1 :])


def _has_barrier(stmts: Stmts) -> bool:
    return any(isinstance(x, k.Barrier) and x.scope == "block" for x in stmts)


def _needs(body: Stmts, fill: k.Store, stored: set[str]) -> bool:
    """Whether what a buffer is filled with needs what the loop loads from one."""
    names, values = set(reads(fill.value)), [fill.value]
    assigns = [x for x in walked(body) if isinstance(x, k.Assign)]
    while more := [x for x in assigns if x.name in names and x.value not in values]:
        values += [x.value for x in more]
        names |= {n for x in more for n in reads(x.value)}
    return any(isinstance(x, k.Load) and x.array in stored for x in walked(values))


def _used_behind(
    behind: Stmts, places: dict[str, int], states: Sequence[Numbers], copies: Sequence[Stmts]
) -> Stmts | None:
    """The statements behind the loop with the one buffer, ``behind`` itself if they use none; None unless they load
    from what the last round filled."""
    if not _count(behind, places.keys()):
        return behind
    if _count(behind, places.keys(), (k.Store,)) or any(isinstance(x, k.LocalArray) for x in behind):
        return None
    for x in walked(behind):
        if isinstance(x, k.Load) and x.array in places:
            for state, body in zip(states, copies, strict=True):
                wanted = _slots(body, {x.array: places[x.array]}, k.Load)[x.array]
                if maybe(x.subscripts[places[x.array]], state) != wanted:
                    return None
    return _zeroed(behind, places)


def _each_round_fills(loop: k.For, before: Stmts, body: Stmts) -> bool:
    """Whether every round but the last one fills the buffer for the next."""
    step = maybe(loop.step, {})
    made = frozenset(assigned(loop.body))
    if step is None or step == 0 or reads(loop.stop) & made:
        return False
    numbers = _Numbers(loop, before, made)
    later = eq.Op("add", (numbers.variable, eq.Const(step, INT)), INT)
    stop = numbers.number(loop.stop)
    if stop is None:
        return False
    known = (eq.Op("lt" if step > 0 else "gt", (later, stop), BOOL),)

    def fine(stmts: Stmts) -> bool:
        for x in stmts:
            if not isinstance(x, k.If) or not any(isinstance(y, k.Store) for y in walked(x)):
                continue
            test = numbers.test(x.condition)
            if (
                test is None
                or any(isinstance(y, k.Store) for y in walked(x.orelse))
                or not implied(known, test)
                or not fine(x.body)
            ):
                return False
        return True

    return fine(body)


class _Numbers:
    """Integers of Kernel IR as expressions of equations over the loop's variable; what is not seen through, and does
    not change in the loop, is a parameter of its own."""

    def __init__(self, loop: k.For, before: Stmts, made: frozenset[str]):
        self.loop, self.made, self.variable = loop, made, eq.Param(loop.var, INT)
        assigns = [x for x in walked((*before, loop)) if isinstance(x, k.Assign)]
        names = [*(x.name for x in assigns), *(x.var for x in walked((*before, loop)) if isinstance(x, k.For))]
        moving = {n for n in names if names.count(n) > 1} | (exposed(loop.body, frozenset()) & made)
        self.values = {x.name: x.value for x in assigns if x.name not in moving and not reads(x.value) & moving}

    def number(self, e: k.Expr, depth: int = 0) -> eq.Expr | None:
        match e:
            case k.Const(value=int() as v):
                return eq.Const(int(v), INT)
            case k.Var(name=name) if name == self.loop.var:
                return self.variable
            case k.Var(name=name) if name in self.values and depth < 8:
                return self.number(self.values[name], depth + 1)
            case k.Op(name="add" | "sub" | "mul" | "floordiv" | "tdiv" as name, args=(a, b)) if e.type.kind == "int":
                x, y = (self.number(z, depth) for z in (a, b))
                return None if x is None or y is None else eq.Op(name, (x, y), INT)
        if _loads(e) or reads(e) & {*self.made, self.loop.var}:
            return None
        return eq.Param(repr(e), INT)

    def test(self, e: k.Expr) -> eq.Expr | None:
        match e:
            case k.Op(name=name, args=(a, b)) if name in COMPARISONS and a.type.kind == b.type.kind == "int":
                x, y = self.number(a), self.number(b)
                return None if x is None or y is None else eq.Op(name, (x, y), BOOL)
        return None


# --- what waits


def _waits(stmts: Stmts, waiting: Waiting) -> Stmts:
    """``stmts`` with what they store in locals."""

    def visit(x: object) -> object:
        if isinstance(x, k.Store) and (x.array, x.subscripts) in waiting:
            own = waiting[x.array, x.subscripts]
            value = x.value if x.value.type == own.type else k.Cast(own.type, x.value, span=x.span)
            return k.Assign(own.name, value, own.type, span=x.span)
        return None

    return rewritten(stmts, visit)  # type: ignore[no-any-return]


def _loads(e: k.Expr) -> bool:
    return any(isinstance(x, k.Load | k.Call | k.Warp) for x in walked(e))


def _count(stmts: object, arrays: Collection[str], kinds: tuple[type, ...] = NAMING) -> int:
    """How often ``stmts`` name one of the arrays."""
    return len([x for x in walked(stmts) if isinstance(x, kinds) and x.array in arrays])  # type: ignore[attr-defined]


__all__ = ["OneBuffer", "in_one_buffer"]
