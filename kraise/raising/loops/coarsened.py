"""Threads that do several elements of their tile: ``for j in range(0, 32, 8): … y + j …`` by 8 threads is work of 32.

Inside such a loop the thread's index is written as ``v - j`` with v the index of one of the 32: where the source uses
only ``thread + j``, j cancels out by arithmetic, and the loop is gone. The side conditions: j is left nowhere (else the
run is taken back), nothing is carried from round to round, and every store of the kernel is in such a loop, so that no
statement is run by more threads than there are.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraise.analysis.dependence import Access
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import INT
from kraise.ir.walk import free_indices, substitute
from kraise.raising.memory.phases import has_barrier
from kraise.raising.run.arithmetic import operation, tidy
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned
from kraise.raising.run.state import State, expressions


def elements(cx: Context, ways: dict[int, int], accesses: Iterable[Access]) -> dict[int, int]:
    """By axis, the number of threads that share the elements of a tile: the step of a loop over it whose variable is
    added to the thread's index."""
    out: dict[int, int] = {}
    for a in accesses:
        steps = dict(found for c in a.path if (found := _stepping(c)) is not None)
        for axis, way in ways.items():
            t, size = cx.threads.get(("thread", axis)), abs(way)
            if not steps or t is None or size < 2:
                continue
            names = [n for n in free_indices(t) if n in cx.axes]
            for s in a.subscripts:
                poly = to_poly(s)
                for j, step in steps.items():
                    for name in names:
                        g = eq.Index(name, INT)
                        both = {j, g} <= poly.atoms() and poly.coefficient(j) == poly.coefficient(g)
                        if both and size % step == 0 and size > step:
                            out[axis] = step
    return out


def _stepping(c: eq.Expr) -> tuple[eq.Index, int] | None:
    """j and 8 of ``j % 8 == 0``."""
    match c:
        case eq.Op(
            name="eq", args=(eq.Op(name="mod", args=(eq.Index() as j, eq.Const(value=int() as n))), eq.Const(value=0))
        ):
            return j, n
    return None


def all_inside(cx: Context, stmts: tuple[k.Stmt, ...]) -> bool:
    """Whether every store is in a loop."""
    for s in stmts:
        match s:
            case k.Store() | k.Atomic() | k.CallStmt() | k.While():
                return False
            case k.If(body=a, orelse=b):
                if not (all_inside(cx, a) and all_inside(cx, b)):
                    return False
    return True


def shared_out(
    cx: Context, st: State, s: k.For, start: eq.Expr, stop: eq.Expr, step: eq.Expr, live: frozenset[str]
) -> bool:
    """Runs the loop as the work of as many threads as there are elements; returns False, having done nothing, if it is
    no such loop."""
    from kraise.raising.run.statements import block

    sizes = (to_poly(start).value, to_poly(stop).value, to_poly(step).value)
    for axis, few in cx.coarse.items():
        if sizes != (0, cx.tile[axis], few):
            continue
        carried = set(assigned(s.body)) & (set(st.env) | live)
        if carried or has_barrier(cx, s.body) or s.var in live or s.orelse or st.folds:
            return False
        t = cx.threads["thread", axis]
        (name,) = (n for n in free_indices(t) if n in cx.axes)
        j, g = eq.Index(f"{s.var}'", INT), eq.Index(name, INT)
        moved = {g: operation("sub", (g, j), INT)}
        inner = st.copy()
        inner.env = {n: tidy(substitute(v, moved)) for n, v in st.env.items()} | {s.var: j}
        threads = dict(cx.threads)
        cx.threads["thread", axis] = tidy(substitute(t, moved))
        out_from, accesses_from = len(inner.out), len(inner.accesses)
        outer = [c for c in st.path if name in free_indices(c) and c not in cx.launch_path]
        if outer:
            return False
        cx.sharing[axis] = t
        try:
            block(cx, inner, s.body, live)
        finally:
            cx.threads = threads
            cx.sharing.pop(axis)
        left = [e for r in inner.out[out_from:] for e in expressions(r)]
        for a in inner.accesses[accesses_from:]:
            left += [*a.subscripts, *a.path]
        if any(j.name in free_indices(e) for e in left):
            return False
        inner.env = dict(st.env)
        st.become(inner)
        st.rung(s.span, s.var, "rung 1: no loop, its rounds are more threads")
        return True
    return False


__all__ = ["all_inside", "elements", "shared_out"]
