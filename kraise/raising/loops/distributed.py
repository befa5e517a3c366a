"""Loop distribution: a loop that stores and accumulates as one that stores and one that accumulates (Kernel IR).

``for c in range(t, n, threads): e = exp(x[c]); y[c] = e; s += e`` is two loops, each of which computes ``e``: the first
has one index with the threads, the second is a sum over it. The side conditions (Kennedy & Allen, *Optimizing Compilers
for Modern Architectures*, section 6.2): what is stored, where and under which condition does not depend on what the
rounds carry; and where the second loop reads an array that the first stores to, both speak of one cell, which no other
round has, and all reads come before the store, or all behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from kraise.analysis.poly import to_poly
from kraise.diagnostics import Refused
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.ir.types import INT
from kraise.raising.memory.phases import has_barrier
from kraise.raising.run.arithmetic import index_like
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned, exposed, reads
from kraise.raising.run.state import State
from kraise.raising.run.values import resolve, value

_WHOLE = (k.CallStmt, k.LocalArray, k.Return, k.Break, k.Continue, k.Barrier, k.Warp)  # loops with these stay whole


def carried_by(s: k.For, live: frozenset[str]) -> frozenset[str]:
    """The locals by which a round of the loop tells the next one, or what comes behind the loop, something."""
    return frozenset(assigned(s.body)) & (exposed(s.body, frozenset()) | live) - {s.var}


def distributed(cx: Context, st: State, s: k.For, live: frozenset[str]) -> tuple[k.For, k.For] | None:
    """The two loops in the order in which they are run; None if there is nothing to take apart, or it may not be."""
    nodes = list(walked(s.body))
    results = any(isinstance(x, k.Atomic) and x.result for x in nodes)
    if s.orelse or s.var in live or results or has_barrier(cx, s.body) or any(isinstance(x, _WHOLE) for x in nodes):
        return None
    carried = carried_by(s, live)
    wanted = _needed(s.body, carried, effects=False)
    told = _needed(s.body, frozenset(), effects=True)
    if not carried or told & carried or not any(isinstance(x, k.Store | k.Atomic) for x in nodes):
        return None
    stores = replace(s, body=_kept(s.body, told, effects=True))
    sums = replace(s, body=_kept(s.body, wanted, effects=False))
    if not _same_range(cx, st, s):
        return None
    order = _order(cx, st, s, sums)
    return None if order is None else (stores, sums) if order == "behind" else (sums, stores)


def _same_range(cx: Context, st: State, s: k.For) -> bool:
    """Whether both loops have the range of the one: nothing that the body changes says where it begins and ends."""
    bounds = (s.start, s.stop, s.step)
    stored = {resolve(cx, st, x.array) for x in walked(s.body) if isinstance(x, k.Store | k.Atomic)}
    loaded = {resolve(cx, st, x.array) for x in walked(bounds) if isinstance(x, k.Load)}
    named = frozenset().union(*map(reads, bounds))
    return (
        not named & {*assigned(s.body)}
        and not loaded & stored
        and not any(isinstance(x, k.Call) for x in walked(bounds))
    )


# --- program slices


def _needed(body: tuple[k.Stmt, ...], names: frozenset[str], effects: bool) -> frozenset[str]:
    """The locals on which the values of ``names`` (and, with ``effects``, the stores) depend."""
    while True:
        more = names | _read(body, names, effects)
        if more == names:
            return names
        names = more


def _read(body: tuple[k.Stmt, ...], names: frozenset[str], effects: bool) -> frozenset[str]:
    out: set[str] = set()
    for s in _kept(body, names, effects):
        match s:
            case k.Assign(value=v):
                out |= reads(v)
            case k.Store(subscripts=subs, value=v):
                out |= reads(v).union(*map(reads, subs))
            case k.Atomic(subscripts=subs, values=values):
                out |= frozenset().union(*map(reads, (*subs, *values)))
            case k.If(condition=c, body=a, orelse=b):
                out |= reads(c) | _read(a, names, effects) | _read(b, names, effects)
            case k.For(start=x, stop=y, step=z, body=a):
                out |= reads(x) | reads(y) | reads(z) | _read(a, names, effects)
            case k.While(condition=c, body=a):
                out |= reads(c) | _read(a, names, effects)
    return frozenset(out)


def _kept(body: tuple[k.Stmt, ...], names: frozenset[str], effects: bool) -> tuple[k.Stmt, ...]:
    """The statements of ``body`` that assign ``names`` or, with ``effects``, store."""
    return tuple(_slice(body, names, effects))


def _slice(body: tuple[k.Stmt, ...], names: frozenset[str], effects: bool) -> Iterator[k.Stmt]:
    for s in body:
        match s:
            case k.Assign(name=name) if name in names:
                yield s
            case k.Store() | k.Atomic() if effects:
                yield s
            case k.If(body=a, orelse=b):
                a, b = _kept(a, names, effects), _kept(b, names, effects)
                if a or b:
                    yield replace(s, body=a, orelse=b)
            case k.For(body=a) | k.While(body=a):
                if a := _kept(a, names, effects):
                    yield replace(s, body=a)


# --- arrays that one loop stores to and the other reads


def _order(cx: Context, st: State, s: k.For, sums: k.For) -> str | None:
    """Whether the sums read what was there ``before`` the stores or what is there ``behind`` them; None: some do this
    and some that, or another round's cell."""
    stored = {resolve(cx, st, x.array) for x in walked(s.body) if isinstance(x, k.Store | k.Atomic)}
    own = {x.array for x in walked(sums.body) if isinstance(x, k.Load | k.ArrayRef)}
    both = {a for a in own if resolve(cx, st, a) in stored}
    if not both:
        return "before"
    resolved = {resolve(cx, st, a) for a in both}
    if any(isinstance(x, k.Call) for x in walked(sums.body)):
        return None  # what a helper reads is not seen here
    touching = [x for x in walked(s.body) if _touches(cx, st, x, resolved)]
    cells = {x.subscripts for x in touching if isinstance(x, k.Load | k.Store)}
    if any(isinstance(x, k.Atomic) for x in touching) or len(cells) != 1:
        return None
    (subs,) = cells
    wanted = _needed(sums.body, carried_by(s, frozenset()) | frozenset(assigned(sums.body)), effects=False)
    if not _one_a_round(cx, st, s, subs):
        return None
    sides: list[str | None] = []
    _sides(s.body, lambda x: _touches(cx, st, x, resolved), wanted, "before", sides)
    return sides[0] if len(set(sides)) == 1 else None


def _touches(cx: Context, st: State, x: object, arrays: set[str]) -> bool:
    return isinstance(x, k.Load | k.Store | k.Atomic) and resolve(cx, st, x.array) in arrays


def _sides(
    body: tuple[k.Stmt, ...],
    touches: Callable[[object], bool],
    names: frozenset[str],
    now: str | None,
    found: list[str | None],
) -> str | None:
    """Adds for each read of the cell by the statements that assign ``names`` whether it is before the store of its
    round or behind it, None where that depends on the path. ``now`` is what a read would be; returns what it is at the
    end of ``body``."""
    for s in body:
        inner = any(isinstance(x, k.Store) and touches(x) for x in walked(s))
        match s:
            case k.Store() if inner:
                if now != "before":
                    found.append(None)  # two stores to the cell
                now = "behind"
            case k.Assign(name=name, value=v) if name in names and any(map(touches, walked(v))):
                found.append(now)
            case k.If(condition=c, body=a, orelse=b):
                if any(map(touches, walked(c))):
                    found.append(now)
                ends = {_sides(x, touches, names, now, found) for x in (a, b)}
                now = ends.pop() if len(ends) == 1 else None
            case k.For() | k.While():
                if any(map(touches, walked(s))):
                    found.append(None if inner else now)
    return now


def _one_a_round(cx: Context, st: State, s: k.For, subs: tuple[k.Expr, ...]) -> bool:
    """Whether each round has a cell of its own: one of the subscripts is a number times the loop's variable and what
    all rounds share."""
    trial = st.copy()
    j = eq.Index(f"{s.var}'", INT)
    trial.env = {n: v for n, v in st.env.items() if n not in assigned(s.body)} | {s.var: j}
    trial.open = (*st.open, j.name)
    own = frozenset(assigned(s.body))

    def known(e: k.Expr) -> bool:
        return reads(e) & own <= trial.env.keys() and not any(isinstance(x, k.Load | k.Call) for x in walked(e))

    try:
        for x in s.body:
            if isinstance(x, k.Assign) and assigned(s.body).count(x.name) == 1 and known(x.value):
                trial.env[x.name] = value(cx, trial, x.value)
        if not all(map(known, subs)):
            return False
        places = [value(cx, trial, e) for e in subs]
    except Refused:
        return False
    for p in places:
        place = to_poly(p) if index_like(p) else None
        if place is None or j.name in place.without(j).indices():
            continue
        if place.coefficient(j).value not in (None, 0):
            return True
    return False


__all__ = ["carried_by", "distributed"]
