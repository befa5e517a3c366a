"""Ragged loops: a range that depends on what an array holds, as in ``for k in range(ptr[i], ptr[i + 1])``.

A round that is run reads certain cells whatever happens in it; on a well-defined launch these cells exist. So the
index lies within the arrays that it subscripts, and the loop is an index over that range under a condition on data.
Where the range lies in a flat array that all lanes share, the condition must say which lane each cell belongs to
(:mod:`kraise.raising.ragged.segments`), or else the loop runs to the longest row, over all lanes at once.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from kraise.analysis.boxes import Unbounded, box
from kraise.analysis.conditions import is_static
from kraise.analysis.dependence import Access
from kraise.analysis.poly import to_poly
from kraise.diagnostics import Refused, Span
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT, ScalarType
from kraise.ir.walk import free_indices, topological
from kraise.raising.carried.problem import Problem
from kraise.raising.loops.counted import conjuncts_of, flag_of
from kraise.raising.loops.placeholders import placeholders
from kraise.raising.loops.ranges import Range
from kraise.raising.loops.whiles import while_fold
from kraise.raising.ragged.own_places import since_start
from kraise.raising.ragged.padded_rows import by_columns, by_rows
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import operation
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned, exposed
from kraise.raising.run.paths import add_path
from kraise.raising.run.state import State

Loop = tuple[Span | None, str]


class LongRows(Exception):
    """These loops cannot be segments of one flat range: they run to the longest row."""

    def __init__(self, loops: frozenset[Loop]):
        super().__init__(loops)
        self.loops = loops


@dataclass(frozen=True)
class Within:
    """Bounds of a ragged loop's index that the accesses of each round imply; ``flat`` if all lanes share the cells."""

    bounds: tuple[eq.Expr, ...]
    flat: bool


def integral(e: eq.Expr) -> eq.Expr:
    """A loop's bound, which is an integer: what is loaded for it is one, whatever the array's type is said to be, and
    so is what stands for a place; not what is cut off to an integer, or compared."""
    made: dict[eq.Expr, eq.Expr] = {}
    for n in topological((e,), _numbers) if not e.type.is_integer else ():
        match n:
            case eq.Read(type=of):
                at = tuple(made[s] for s in n.subscripts)
                made[n] = eq.Read(n.version, at, INT if of.kind == "number" else of, n.view, n.safe)
            case eq.Op(name=name, args=args, type=of):
                args = tuple(made.get(a, a) for a in args)
                whole = of.kind == "number" and all(a.type.is_integer for a in args[name == "select" :])
                made[n] = operation(name, args, INT if whole else of)
            case _:
                made[n] = n
    return made.get(e, e)


def _numbers(e: eq.Expr) -> tuple[eq.Expr, ...]:
    """What an integer is made of that is one itself."""
    match e:
        case eq.Read(subscripts=subscripts):
            return subscripts
        case eq.Op(name=name, args=args) if e.type.kind not in ("bool", "float"):
            return args[name == "select" :]
    return ()


def bounded(st: State, rng: Range) -> bool:
    """Whether the loop's own bounds give a range that is known when the function is traced."""
    try:
        box((rng.index.name,), tuple(dict.fromkeys((*rng.conjuncts(), *st.path))), st.open)
    except Unbounded as unbounded:
        return unbounded.name != rng.index.name
    return True


def within(cx: Context, st: State, s: k.For, rng: Range, live: frozenset[str]) -> Within | None:
    """What the accesses that every round makes say of the index; None if they say nothing.

    The body is run once, with placeholders for all that it carries, and only its accesses are looked at.
    """
    from kraise.raising.run.statements import block

    inner = st.copy()
    carries, _ = placeholders(cx, inner, s.body, rng.index.name, extra=(), var=s.var)
    inner.env |= carries
    inner.env[s.var] = rng.index
    inner.partial.pop(s.var, None)
    inner.open = (*inner.open, rng.index.name)
    inner.path = tuple(dict.fromkeys((*inner.path, *rng.conjuncts())))
    always, start = set(inner.path) | _going(s.body, carries), len(inner.accesses)
    if (turn := _turn(cx, inner, s)) is not None and not _looks_at(turn, rng.index):
        always |= set(add_path(inner.path, turn))
    checks, wanted = list(cx.checks), dict(cx.wanted)
    with suppress(Refused, Unbounded):  # what was accessed until then was accessed
        block(cx, inner, s.body, live | exposed(s.body, live))
    cx.checks[:], cx.wanted = checks, wanted
    shared: dict[eq.Expr, None] = {}
    own: dict[eq.Expr, None] = {}
    lanes = (free_indices(rng.start) | free_indices(rng.stop)) - set(st.folds)
    flat_rows: list[Access] = []
    columns: list[Access] = []
    for a in inner.accesses[start:]:
        if not _surely(a.path, always, inner):
            continue
        local = inner.locals.get(a.array)
        if local is None and a.view and a.subscripts[0] is rng.index:
            columns.append(a)
        if a.view and not a.whole:
            continue
        subscripts = a.whole or a.subscripts
        if len(subscripts) == 1 and local is None and rng.index.name in free_indices(subscripts[0]):
            flat_rows.append(replace(a, subscripts=subscripts))
        for d, sub in enumerate(subscripts):
            poly = to_poly(sub)
            if poly.coefficient(rng.index).value in (None, 0) or not is_static(poly.without(rng.index)):
                continue
            if local is not None:
                if d < len(local.prefix):
                    continue
                extent = local.shape[d - len(local.prefix)]
            else:
                extent = eq.Shape(a.array, d, INT)
            if not is_static(to_poly(extent)):
                continue
            flat = not any(free_indices(x) & lanes for x in subscripts)
            found = shared if flat else own
            found[eq.Op("ge", (sub, eq.Const(0, INT)), BOOL)] = None
            found[eq.Op("lt", (sub, extent), BOOL)] = None
    places = {a: at for at, a in enumerate(_arrays(cx))}
    if not own and not shared:
        first = sorted(columns, key=lambda a: places.get(a.array, -1))[:1]
        row = by_columns(cx, st, first[0], rng) if first else by_rows(cx, st, flat_rows, rng)
        own |= {row: None} if row is not None else {}
    chosen = sorted(own or shared, key=lambda c: places.get(_array(c), -1))
    if not chosen:
        return None
    return Within(tuple(chosen), not own and bool(lanes))


def _going(body: tuple[k.Stmt, ...], carries: dict[str, eq.CarryIn]) -> set[eq.Expr]:
    """That no round before has left the loop: where one has, a round does nothing, and is none."""
    if len(body) != 1 or not isinstance(body[0], k.If) or body[0].orelse:
        return set()
    flags = map(flag_of, conjuncts_of(body[0].condition))
    return {simplify.negation(carries[f]) for f in flags if f in carries}


def _looks_at(condition: eq.Expr, index: eq.Index) -> bool:
    """Whether a condition is on what the round itself loads."""
    loads = (n for n in topological((condition,)) if isinstance(n, eq.Read))
    return any(index.name in free_indices(s) for n in loads for s in n.subscripts)


def _turn(cx: Context, st: State, s: k.For) -> eq.Expr | None:
    """The condition without which a round does nothing: as good as no round."""
    from kraise.raising.run.values import value

    match s.body:
        case (k.If(condition=c, orelse=()),):
            with suppress(Refused):
                return value(cx, st.copy(), c)
    return None


def _surely(path: tuple[eq.Expr, ...], always: set[eq.Expr], st: State) -> bool:
    """Whether every round makes an access: beyond what always holds, its path says the ranges of loops that have
    rounds."""
    more = [c for c in path if c not in always]
    names = dict.fromkeys(n for c in more for n in free_indices(c) if n not in st.open)
    if any(not free_indices(c) <= names.keys() or not free_indices(c) for c in more):
        return False
    try:
        found = box(tuple(names), tuple(more), ())
    except Unbounded:
        return False
    sizes = [(to_poly(a.hi) - to_poly(a.lo)).value for a in found.axes]
    return not found.residue and all(n is not None and n > 0 for n in sizes)


def _arrays(cx: Context) -> list[str]:
    return [p.name for p in cx.function.params]


def _array(bound: eq.Expr) -> str:
    return next((n.array.split(".")[0] for n in topological((bound,)) if isinstance(n, eq.Shape)), "")


def to_longest(s: k.For, st: State, rng: Range) -> k.While:
    """The loop as one that runs until the last lane is done.

    The state gets the variable's first value and the stop. A variable that the body sets, or that is used after the
    loop, is told apart from the one that is stepped.
    """
    kind: ScalarType = s.type
    own = s.var not in st.env and s.var not in assigned(s.body)
    counter = s.var if own else f"{s.var}_next"
    stop, step = f"${s.var}.stop", k.Const(rng.step, INT)
    st.env[counter], st.env[stop] = rng.start, rng.stop
    now = k.Var(counter, kind)
    more = k.Op("lt" if rng.step > 0 else "gt", (now, k.Var(stop, kind)), BOOL, span=s.span)
    first = () if own else (k.Assign(s.var, now, kind, span=s.span),)
    after = k.Assign(counter, k.Op("add", (now, step), kind), kind, span=s.span)
    return k.While(more, (*first, *s.body, after), span=s.span)


def longest(cx: Context, st: State, s: k.For, rng: Range, live: frozenset[str], reason: str = "") -> None:
    """A ragged loop that is no index: all lanes at once, until the longest row ends."""
    entry, first = st.env.get(s.var), len(st.accesses)
    name = to_longest(s, st, rng)
    while_fold(cx, st, name, live)
    last_step = name.body[-1]
    assert isinstance(last_step, k.Assign)
    since_start(st, first, last_step.name, rng.start, rng.step)
    problem = Problem(rng.index, rng.start, rng.stop, rng.step, (), st.path, st.open, {}, {}, {}, list, [])
    if s.var in live:
        last = problem.last()
        st.env[s.var] = last if entry is None else simplify.select(problem.runs, last, entry, INT)
    why = f", because {reason}" if reason else ""
    st.rung(s.span, rng.index.name, f"rung 2: a loop over whole arrays to the longest row{why}")
