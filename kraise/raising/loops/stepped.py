"""Locals that every round of a counted loop moves by the same amount: functions of its index from the start.

A pointer that walks along a row (``*p++``), a second counter, an offset: with ``start + round * step`` for it (a step
that is a multiple of the loop's own), what it subscripts is seen as affine in the index. The side condition: the body
assigns it once, at its top level, as itself plus an integer of locals that the body does not assign, loads nothing for
it, and its type does not wrap. Or the body does so in each round of one inner loop (``col[at++] = ...`` in two loops)
whose number of rounds does not change, and asks for it nowhere else: where it is asked for, the inner loop has a
round.
"""

from __future__ import annotations

from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.ir.types import BOOL, INT, ScalarType
from kraise.ir.walk import topological
from kraise.raising.loops.counted import step_of
from kraise.raising.loops.ranges import Range
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import index_like, operation
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned, reads
from kraise.raising.run.state import State
from kraise.raising.run.values import value


def stepped(cx: Context, st: State, s: k.For, rng: Range) -> dict[str, tuple[eq.Expr, eq.Expr]]:
    """For each such local its value on entry to the round ``rng.index``, and after the loop."""
    names = assigned(s.body)
    single = [x.name for x in s.body if isinstance(x, k.Assign)]
    out: dict[str, tuple[eq.Expr, eq.Expr]] = {}
    sign = 1 if rng.step > 0 else -1
    size = rng.step * sign
    distance = to_expr((to_poly(rng.index) - to_poly(rng.start)) * sign)  # in ``size`` a round
    gap = to_poly(rng.stop) - to_poly(rng.start)
    count = operation("floordiv", (to_expr(gap * sign + (size - 1)), eq.Const(size, INT)), INT)
    for x in s.body:
        if not isinstance(x, k.Assign) or x.name == s.var or names.count(x.name) != 1 or single.count(x.name) != 1:
            continue
        init = st.env.get(x.name)
        step = step_of(x.value, x.name)
        if init is None or step is None or not index_like(init) or x.name in st.partial or _inner(s.body, x.name):
            continue
        if reads(step) & {*names, s.var} or not _plain(step):
            continue
        amount = value(cx, st, step)
        if not index_like(amount) or not _fits(x.type, amount):
            continue
        each = to_poly(amount)  # of which so much goes to one of the index
        if any(c % size for c in each.terms.values()):
            continue
        each = Poly({m: c // size for m, c in each.terms.items()})
        now = operation("add", (init, operation("mul", (distance, to_expr(each)), INT)), INT)
        runs = simplify.op("lt" if rng.step > 0 else "gt", (rng.start, rng.stop), BOOL)
        if _of_sizes(amount) and not isinstance(
            runs, eq.Const
        ):  # no choice: so many of them is a place in rows of rows
            rounds = simplify.op("max", (count, eq.Const(0, INT)), INT)
            out[x.name] = now, operation("add", (init, operation("mul", (rounds, amount), INT)), INT)
            continue
        end = operation("add", (init, operation("mul", (count, amount), INT)), INT)
        out[x.name] = now, simplify.select(runs, end, init, INT)
    for name in names if size == 1 else ():
        init = st.env.get(name)
        if name == s.var or name in single or init is None or not index_like(init) or name in st.partial:
            continue
        found = _within(cx, st, s.body, name, frozenset((*names, s.var)))
        if found is not None:
            amount, inner = found
            now, end = (operation("add", (init, operation("mul", (n, amount), INT)), INT) for n in (distance, count))
            runs = simplify.op("lt" if rng.step > 0 else "gt", (rng.start, rng.stop), BOOL)
            out[name] = now, simplify.select(simplify.op("and", (runs, inner), BOOL), end, init, INT)
    return out


def _of_sizes(amount: eq.Expr) -> bool:
    """Whether it is a size: of a row, or of a plane."""
    sizes = eq.Param | eq.Shape | eq.Const | eq.Op
    return not isinstance(amount, eq.Const) and all(isinstance(n, sizes) for n in topological((amount,)))


def _within(
    cx: Context, st: State, body: tuple[k.Stmt, ...], name: str, moving: frozenset[str]
) -> tuple[eq.Expr, eq.Expr] | None:
    """By how much one run of ``body`` moves ``name``, which it does in the rounds of one loop only, and the condition
    under which that loop has rounds; None for anything else."""
    loops = [x for x in body if isinstance(x, k.For) and name in assigned((x,))]
    others = [x for x in body if not loops or x is not loops[0]]
    if len(loops) != 1 or _mentioned(others, name) or any(name in assigned((x,)) for x in others):
        return None
    (loop,) = loops
    leaves = any(isinstance(x, k.While | k.Break | k.Continue | k.Return) for x in walked(loop.body))
    by = int(loop.step.value.real) if isinstance(loop.step, k.Const) else 0
    if leaves or loop.orelse or by not in (1, -1) or loop.var in assigned(loop.body) or name == loop.var:
        return None
    if (reads(loop.start) | reads(loop.stop)) & moving or not (_plain(loop.start) and _plain(loop.stop)):
        return None
    first, last = value(cx, st, loop.start), value(cx, st, loop.stop)
    own = [x for x in loop.body if isinstance(x, k.Assign) and x.name == name]
    if not (index_like(first) and index_like(last)):
        return None
    trips = to_expr((to_poly(last) - to_poly(first)) * by)
    runs = simplify.op("lt" if by > 0 else "gt", (first, last), BOOL)
    if not own:
        deeper = _within(cx, st, loop.body, name, moving)
        if deeper is None:
            return None
        amount, inner = deeper
        return operation("mul", (trips, amount), INT), simplify.op("and", (runs, inner), BOOL)
    step = step_of(own[0].value, name)
    if len(own) != 1 or step is None or _inner(loop.body, name) or reads(step) & moving or not _plain(step):
        return None
    amount = value(cx, st, step)
    if not index_like(amount) or not _fits(own[0].type, amount):
        return None
    return operation("mul", (trips, amount), INT), runs


def _mentioned(stmts: list[k.Stmt], name: str) -> bool:
    return any(isinstance(x, k.Var) and x.name == name for x in walked(stmts))


def _fits(t: ScalarType, amount: eq.Expr) -> bool:
    """Whether the variable does not wrap: narrow ones do, unsigned ones below zero."""
    if t.kind == "uint":
        return (t.bits or 0) >= 32 and isinstance(amount, eq.Const) and amount.value >= 0  # type: ignore[operator]
    return t.kind == "int" and (t.bits is None or t.bits >= 32)


def _inner(body: tuple[k.Stmt, ...], name: str) -> bool:
    """Whether a statement within a statement assigns it."""
    return any(name in assigned((s,)) for s in body if not isinstance(s, k.Assign))


def _plain(e: k.Expr) -> bool:
    match e:
        case k.Const() | k.Var() | k.Shape() | k.Hw():
            return e.type.is_integer
        case k.Op(args=args):
            return e.type.is_integer and all(map(_plain, args))
        case k.Cast(arg=a):
            return e.type.is_integer and _plain(a)
    return False
