"""Scalars that a loop carries and that threads exchange, as functions of the loop's index.

A tile's next elements wait in registers while this one's are used; the planes of a volume move through them
(``behind = here; here = ahead; ahead = a[z + 1]``). What another thread holds of such a value cannot be told of a
placeholder, but these values depend on no barrier: the part of the body that makes them is run alone, and the rules for
carried scalars say what each round finds.

The side condition: what is foreseen is made of numbers, of other such values and of loads from arrays to which the
loop stores nothing, under conditions of the same kind.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.boxes import Unbounded
from kraise.diagnostics import Refused
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.ir.walk import Unmovable, substitute
from kraise.raising.carried.affine import induction, invariant
from kraise.raising.carried.problem import Declined, Problem
from kraise.raising.carried.shift import shift
from kraise.raising.loops.placeholders import placeholders
from kraise.raising.loops.ranges import Range
from kraise.raising.loops.stepped import stepped
from kraise.raising.loops.touched import stores
from kraise.raising.run.arithmetic import tidy
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned, reads
from kraise.raising.run.state import State
from kraise.raising.run.statements import block
from kraise.raising.run.values import resolve

Moves = dict[str, tuple[eq.Expr, eq.Expr]]  # on entry to a round, and after the loop
NONE: Moves = {}


def foreseen(cx: Context, st: State, s: k.For, rng: Range) -> Moves:
    """For each such scalar its value on entry to the round ``rng.index``, and after the loop."""
    part = _making(cx, st, s)
    names = [n for n in assigned(part) if n in st.env and n != s.var]
    if not names or any(n in st.partial for n in names):
        return {}
    try:
        return _settled(cx, st, replace(s, body=part), rng)
    except (Refused, Unbounded, Unmovable):
        return {}


def _settled(cx: Context, st: State, s: k.For, rng: Range) -> Moves:
    inner = st.copy()
    moves = stepped(cx, inner, s, rng)
    carries, inits = placeholders(cx, inner, s.body, rng.index.name, extra=(), var=s.var)
    carries = {n: c for n, c in carries.items() if n not in moves}
    inner.env |= carries | {n: now for n, (now, _) in moves.items()}
    inner.env[s.var] = rng.index
    inner.partial.pop(s.var, None)
    inner.open = (*inner.open, rng.index.name)
    inner.path = tuple(dict.fromkeys((*inner.path, *rng.conjuncts())))
    block(cx, inner, s.body, frozenset(assigned(s.body)))
    if len(inner.out) != len(st.out):
        return {}
    updates = {n: inner.env[n] for n in carries}
    problem = Problem(
        rng.index,
        rng.start,
        rng.stop,
        rng.step,
        rng.conjuncts(),
        st.path,
        st.open,
        dict(carries),
        inits,
        updates,
        list,
        list(carries),
    )
    found: Moves = {}
    while (done := _one(problem)) is not None:
        name, now, final = done
        mapping = {carries[name]: now}
        found[name] = now, final
        problem.pending = [n for n in problem.pending if n != name]
        problem.updates = {n: tidy(substitute(u, mapping)) for n, u in problem.updates.items()}
    return found


def _one(p: Problem) -> tuple[str, eq.Expr, eq.Expr] | None:
    for rule in (invariant, induction, shift):
        for name in p.pending:
            answer = rule(p, name)
            if not isinstance(answer, Declined):
                return name, answer.replace[p.carries[name]], answer.final[name]
    return None


# --- the part of the body that makes them


def _making(cx: Context, st: State, s: k.For) -> tuple[k.Stmt, ...]:
    """The statements of a loop's body that need nothing else of what the loop makes."""
    nodes = list(walked(s.body))
    if any(isinstance(x, k.Break | k.Continue | k.Return) for x in nodes):
        return ()
    stored = frozenset(resolve(cx, st, a) for a in stores(s.body))
    own = frozenset(assigned(s.body))
    plain = [x.name for x in nodes if isinstance(x, k.Assign)]
    other = {x.var for x in nodes if isinstance(x, k.For)} | {x.result for x in nodes if isinstance(x, k.Atomic)}
    left = own - other - {n for x in nodes if isinstance(x, k.CallStmt) for n in x.results}

    def needs(e: k.Expr) -> bool:
        """Whether an expression needs what the loop makes otherwise."""
        return bool(reads(e) & (own - left)) or any(
            isinstance(x, k.Call | k.Warp | k.ArrayRef)
            or (isinstance(x, k.Load) and resolve(cx, st, x.array) in stored)
            for x in walked(e)
        )

    def kept(stmts: tuple[k.Stmt, ...]) -> tuple[k.Stmt, ...]:
        out: list[k.Stmt] = []
        for x in stmts:
            match x:
                case k.Assign(name=name, value=v) if name in left and not needs(v):
                    out.append(x)
                case k.If(condition=c, body=a, orelse=b) if not needs(c):
                    a, b = kept(a), kept(b)
                    if a or b:
                        out.append(replace(x, body=a, orelse=b))
        return tuple(out)

    while True:
        part = kept(s.body)
        there = [x.name for x in walked(part) if isinstance(x, k.Assign)]
        known = frozenset(n for n in left if there.count(n) == plain.count(n))
        if known == left:
            return part
        left = known


__all__ = ["NONE", "Moves", "foreseen"]
