"""What the last block to finish does: ``if (atomicInc(&count, gridDim.x) == gridDim.x - 1)`` after a fence.

Each block leaves its part in memory, makes it seen (``__threadfence``) and takes a ticket; the block that gets the last
one finds all parts there. Whichever that is, it does what any other would have done, and no other does anything more:
the grid meets, and one block goes on (Kernel IR to Kernel IR). That the counter begins below the number of blocks stays
a condition; where it begins above 0, a block goes on too early, which is a race unless it does not matter.

Side conditions, each checked: one thread of each block takes one ticket, after a fence with no store to memory of the
grid between; nothing else reads or changes the counter, but what the last block does; nothing comes after that; it asks
neither for the block's index nor for locals or arrays that a block had before (arrays get names of their own: what they
held is not defined). All of it may stand under a condition that holds for the whole grid (``if (gridDim.x > 1)``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kraise.ir import kernel as k
from kraise.ir.rename import names_in, renamed
from kraise.ir.rewrite import walked
from kraise.ir.types import BOOL, UINT32, UINT64
from kraise.raising.run.calls import called
from kraise.raising.run.liveness import exposed

Stmts = tuple[k.Stmt, ...]


@dataclass(frozen=True)
class _Meeting:
    """What comes first, arrays of the last block, what is left of the statement with the ticket, and what comes in
    place of all that follows: the meeting, and what one block does then."""

    first: Stmts
    arrays: Stmts
    left: Stmts
    last: tuple[k.Stmt, k.Stmt]


@dataclass(frozen=True)
class _Ticket:
    """What takes one, the flag that is set where it is the last, and the counter."""

    taken: k.Atomic
    flag: k.Store
    rest: k.If  # the statement without them


def by_last_block(module: k.Module, function: k.Function) -> k.Function:
    """``function`` with a meeting of the grid in place of tickets; itself where it takes none."""
    if not any(isinstance(x, k.Atomic) and x.result and x.fenced for x in walked(function.body)):
        return function
    functions = {f.name: f for f in module.functions}
    helpers = [functions[c].body for c in called(module, function) if c in functions]
    looks = [x for x in walked((function.body, tuple(helpers))) if isinstance(x, k.Hw)]
    if any(x.axis for x in looks) or any(x.kind == "block" for x in walked(tuple(helpers)) if isinstance(x, k.Hw)):
        return function
    body = _rewritten(function.body, function)
    return function if body is None else replace(function, body=body)


def _rewritten(stmts: Stmts, function: k.Function) -> Stmts | None:
    for i, s in enumerate(stmts):
        if not isinstance(s, k.If):
            continue
        seen = stmts[:i]
        if (ticket := _ticket(s, seen)) is not None:
            made = _meeting(ticket, stmts[i + 1 :], seen, function)
            return None if made is None else (*made.first, *made.arrays, *stmts[:i], *made.left, *made.last)
        if s.orelse or stmts[i + 1 :] or not _same_in_grid(s.condition, seen):
            continue
        for n, inner in enumerate(s.body):  # ``if (gridDim.x > 1) …``: for all threads, or for none
            if isinstance(inner, k.If) and (ticket := _ticket(inner, (*seen, *s.body[:n]))) is not None:
                made = _meeting(ticket, s.body[n + 1 :], (*seen, *s.body[:n]), function)
                if made is None:
                    return None
                around = replace(s, body=(*s.body[:n], *made.left))
                meet, then = made.last
                last = (meet, replace(s, body=(then,)))
                return (*made.first, *made.arrays, *stmts[:i], *((around,) if around.body else ()), *last)
    return None


def _same_in_grid(c: k.Expr, before: Stmts) -> bool:
    """Whether a condition, of numbers of the launch and parameters, holds for all threads of the grid or for none."""
    inside = [*walked(c)]
    if any(isinstance(x, k.Load | k.Call | k.Warp | k.Atomic) for x in inside):
        return False
    if any(isinstance(x, k.Hw) and x.kind not in ("gridDim", "blockDim") for x in inside):
        return False
    return all(_alike(x.name, before) for x in inside if isinstance(x, k.Var))


def _ticket(s: k.If, before: Stmts) -> _Ticket | None:
    """The first thread's ticket."""
    if s.orelse or not _one_thread(s.condition, before):
        return None
    taken = [x for x in s.body if isinstance(x, k.Atomic) and x.result and x.fenced]
    if len(taken) != 1 or not all(isinstance(e, k.Const) for e in taken[0].subscripts):
        return None
    ticket, at = taken[0], s.body.index(taken[0])
    blocks = k.Hw("gridDim", 0, UINT32)
    steps = {"inc": (blocks, _less(blocks)), "add": (k.Const(1, ticket.type),)}.get(ticket.name, ())
    if len(ticket.values) != 1 or _plain(ticket.values[0]) not in map(_plain, steps):
        return None
    value: k.Expr = k.Var(ticket.result, ticket.type)
    flags, names = [], {ticket.result}
    kept: list[k.Stmt] = [*s.body[:at]]
    for x in s.body[at + 1 :]:
        match x:
            case k.Assign(name=name, value=v) if _plain(v) == _plain(value):
                value = k.Var(name, x.type)
                names.add(name)
            case k.Store() if _is_last(x.value, value) and all(isinstance(e, k.Const) for e in x.subscripts):
                flags.append(x)
            case _:
                return None
    return _Ticket(ticket, flags[0], replace(s, body=tuple(kept))) if len(flags) == 1 else None


def _less(e: k.Expr) -> k.Expr:
    return k.Op("sub", (e, k.Const(1, UINT32)), UINT32)


def _one_thread(c: k.Expr, before: Stmts) -> bool:
    """Whether a condition holds for one thread of a block (which has one axis)."""
    alone = {s.name: s.value for s in before if isinstance(s, k.Assign)}
    match _plain(c):
        case k.Op(name="eq", args=(a, k.Const())) | k.Op(name="eq", args=(k.Const(), a)):
            if isinstance(a, k.Var) and sum(a.name in names_in(x) for x in _assigns(before)) == 1:
                a = _plain(alone.get(a.name, a))
            return isinstance(a, k.Hw) and a.kind == "thread"
        case k.Op(name="not", args=(a,)):
            return _one_thread(k.Op("eq", (a, k.Const(0, UINT32)), BOOL), before)
    return False


def _assigns(stmts: Stmts) -> Iterator[k.Stmt]:
    """Whatever sets a local, each alone."""
    for x in walked(stmts):
        match x:
            case k.Assign(name=name):
                yield k.Assign(name, k.Const(0, x.type), x.type)
            case k.For(var=name) | k.Atomic(result=name) if name:
                yield k.Assign(name, k.Const(0, UINT32), UINT32)
            case k.CallStmt(results=results):
                yield from (k.Assign(n, k.Const(0, UINT32), UINT32) for n in results)


def _plain(e: k.Expr) -> k.Expr:
    """Without casts from one integer to another that hold each number of a block, and without places in the source."""
    while isinstance(e, k.Cast) and e.type.is_integer and e.arg.type.is_integer and (e.type.bits or 64) >= 32:
        e = e.arg
    match e:
        case k.Op(name=name, args=args):
            return k.Op(name, tuple(map(_plain, args)), UINT32)
        case k.Const(value=value) if type(value) is int:
            return k.Const(value, UINT32)
        case k.Hw():
            return k.Hw(e.kind, e.axis, UINT32)
        case k.Var(name=name):
            return k.Var(name, UINT32)
        case k.Load(array=array, subscripts=subs):
            return k.Load(array, tuple(map(_plain, subs)), UINT32)
    return e


def _is_last(e: k.Expr, value: k.Expr) -> bool:
    """``value == gridDim.x - 1``."""
    blocks, one = k.Hw("gridDim", 0, UINT32), k.Const(1, UINT32)
    own = _plain(value)
    ways = [(own, _less(blocks)), (k.Op("add", (own, one), UINT32), blocks)]
    while isinstance(e, k.Cast) and e.arg.type.kind == "bool":
        e = e.arg
    match e:
        case k.Op(name="select", args=(c, k.Const(value=1), k.Const(value=0))):
            return _is_last(c, value)
        case k.Cast(arg=k.Op(name="select") as chosen):
            return _is_last(chosen, value)
    found = _plain(e)
    return isinstance(found, k.Op) and found.name == "eq" and found.args in [w for x in ways for w in (x, x[::-1])]


def _meeting(t: _Ticket, after: Stmts, before: Stmts, function: k.Function) -> _Meeting | None:
    if len(after) < 2 or not isinstance(after[0], k.Barrier) or after[0].scope != "block":
        return None
    chosen = _of_flag(after[1], after[2:], t.flag)
    counter, whole = t.taken.array, [*walked(function.body)]
    if chosen is None or any(isinstance(x, k.Barrier) and x.scope == "grid" for x in whole):
        return None
    uses = [x for x in whole if isinstance(x, k.Load | k.Store | k.Atomic | k.ArrayRef) and x.array == counter]
    later = [x for x in walked(chosen) if isinstance(x, k.Load | k.Store) and x.array == counter]
    flags = [x for x in whole if isinstance(x, k.Load | k.Store | k.Atomic | k.ArrayRef) and x.array == t.flag.array]
    if counter not in {p.name for p in function.params} or len(uses) != len(later) + 1 or len(flags) != 2:
        return None
    returns = sum(isinstance(x, k.Return) for x in whole)
    leaves = isinstance(after[1], k.If) and isinstance(after[1].body[0], k.Return)
    if returns != leaves or any(isinstance(x, k.Hw) and x.kind == "block" for x in walked(chosen)):
        return None
    if not _stored(before, t.rest):
        return None
    if not all(_alike(n, (*before, t.rest)) for n in exposed(chosen, frozenset())):
        return None
    taken = {p.name for p in function.params} | names_in(function.body)
    arrays, names = [], {}
    for a in (x for x in walked(before) if isinstance(x, k.LocalArray)):
        if a.name in names_in(chosen):
            if a.dynamic:
                return None
            names[a.name] = _fresh(f"{a.name}_last", taken)
            arrays.append(replace(a, name=names[a.name], fill=None, values=()))
    begun = _fresh(f"{counter}_before", taken)
    first = k.Assign(begun, k.Load(counter, t.taken.subscripts, t.taken.type), t.taken.type, span=t.taken.span)
    meet = k.Barrier("grid", span=t.taken.span)
    wide = UINT64 if t.taken.type.bits == 64 else UINT32
    low = k.Op("lt", (k.Cast(wide, k.Var(begun, t.taken.type)), k.Cast(wide, k.Hw("gridDim", 0, UINT32))), BOOL)
    one = k.Op("eq", (k.Hw("block", 0, UINT32), k.Const(0, UINT32)), BOOL)
    inner = k.If(low, renamed(chosen, names), span=after[1].span)
    counted = k.Store(counter, t.taken.subscripts, _counted(t.taken, begun), span=t.taken.span)
    left = (t.rest,) if t.rest.body else ()
    now = (replace(t.rest, body=(counted,)), k.Barrier("block", span=t.taken.span), inner)
    return _Meeting((first, meet), tuple(arrays), left, (meet, k.If(one, now, span=after[1].span)))


def _counted(taken: k.Atomic, begun: str) -> k.Expr:
    """The counter, when each block has taken a ticket."""
    t, blocks = taken.type, k.Cast(taken.type, k.Hw("gridDim", 0, UINT32))
    was = k.Var(begun, t)
    if taken.name == "add":
        return k.Op("add", (was, blocks), t)
    less = k.Op("sub", (blocks, k.Const(1, t)), t)
    if isinstance(_plain(taken.values[0]), k.Op):  # up to gridDim.x - 1: once round
        return k.Op("select", (k.Op("lt", (was, blocks), BOOL), was, less), t)
    back = k.Op("select", (k.Op("le", (was, blocks), BOOL), k.Op("sub", (was, k.Const(1, t)), t), less), t)
    return k.Op("select", (k.Op("eq", (was, k.Const(0, t)), BOOL), blocks, back), t)


def _stored(before: Stmts, ticket: k.If) -> bool:
    """Whether what the block stored to memory of the grid is stored when the ticket is taken: by its thread, or before
    a barrier."""
    own = {x.name for x in walked(before) if isinstance(x, k.LocalArray)}
    for s in reversed(before):
        if isinstance(s, k.Barrier) and s.scope == "block":
            return True
        inside = [x for x in walked((s,)) if isinstance(x, k.Store | k.Atomic | k.CallStmt)]
        far = any(isinstance(x, k.CallStmt) or x.array not in own for x in inside)
        by_it = isinstance(s, k.If) and not s.orelse and _plain(s.condition) == _plain(ticket.condition)
        if far and not by_it:
            return False
    return True


def _of_flag(s: k.Stmt, rest: Stmts, flag: k.Store) -> Stmts | None:
    """What runs where the flag is set, if that is all that comes."""
    if not isinstance(s, k.If) or s.orelse:
        return None
    if len(s.body) == 1 and isinstance(s.body[0], k.Return):
        return rest if _says(s.condition, flag, False) else None
    if rest:
        return None
    others = [c for c in _parts(s.condition) if not _says(c, flag, True)]
    if len(others) == len(_parts(s.condition)):
        return None
    return s.body if not others else tuple(_guarded(others, s))


def _guarded(conditions: list[k.Expr], s: k.If) -> Stmts:
    body: Stmts = s.body
    for c in reversed(conditions):
        body = (replace(s, condition=c, body=body),)
    return body


def _parts(c: k.Expr) -> list[k.Expr]:
    if isinstance(c, k.Op) and c.name == "and":
        return [x for a in c.args for x in _parts(a)]
    return [c]


def _says(c: k.Expr, flag: k.Store, holds: bool) -> bool:
    """Whether a condition says that the flag is set (not ``holds``: that it is not)."""
    read = _plain(k.Load(flag.array, flag.subscripts, UINT32))
    match c:
        case k.Op(name="not", args=(a,)):
            return _says(a, flag, not holds)
        case k.Op(name="ne" | "eq" as name, args=(a, k.Const(value=0 | False))):
            return (_plain(a) == read or _says(a, flag, True)) and (name == "ne") == holds
        case k.Op(name="ne" | "eq" as name, args=(a, k.Const(value=1 | True))):  # it is 1 where it is not 0
            return (_plain(a) == read or _says(a, flag, True)) and (name == "eq") == holds
        case k.Cast(arg=a):
            return _says(a, flag, holds)
    return holds and _plain(c) == read


def _alike(name: str, before: Stmts) -> bool:
    """Whether a local has the same value in all blocks: set once, from numbers that have."""
    set_at = [s for s in before if isinstance(s, k.Assign) and s.name == name]
    many = sum(x.name == name for x in _assigns(before) if isinstance(x, k.Assign))
    if not many:
        return True  # a parameter
    if many != 1 or not set_at:
        return False
    inside = [*walked(set_at[0].value)]
    if any(isinstance(x, k.Load | k.Call | k.Warp) or (isinstance(x, k.Hw) and x.kind == "block") for x in inside):
        return False
    return all(_alike(x.name, before) for x in inside if isinstance(x, k.Var))


def _fresh(wish: str, taken: set[str]) -> str:
    while wish in taken:
        wish += "_"
    taken.add(wish)
    return wish


__all__ = ["by_last_block"]
