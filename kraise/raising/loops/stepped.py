"""Locals that every round of a counted loop moves by the same amount: functions of its index from the start.

A pointer that walks along a row (``*p++``), a second counter, an offset: with ``start + round * step`` for it, what it
subscripts is seen as affine in the index. The side condition: the body assigns it once, at its top level, as itself
plus an integer of locals that the body does not assign, loads nothing for it, and its type does not wrap.
"""

from __future__ import annotations

from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT, ScalarType
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
    if abs(rng.step) != 1:
        return {}
    names = assigned(s.body)
    single = [x.name for x in s.body if isinstance(x, k.Assign)]
    out: dict[str, tuple[eq.Expr, eq.Expr]] = {}
    rounds = to_expr((to_poly(rng.index) - to_poly(rng.start)) * rng.step)
    count = to_expr((to_poly(rng.stop) - to_poly(rng.start)) * rng.step)
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
        now = operation("add", (init, operation("mul", (rounds, amount), INT)), INT)
        end = operation("add", (init, operation("mul", (count, amount), INT)), INT)
        runs = simplify.op("lt" if rng.step > 0 else "gt", (rng.start, rng.stop), BOOL)
        out[x.name] = now, simplify.select(runs, end, init, INT)
    return out


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
