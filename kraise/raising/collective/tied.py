"""Sizes that are the block's: ``scan<<<1, n>>>`` whose loops run up to n computes what it should where n is the number
of threads, or twice it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import substitute, topological
from kraise.raising.collective.begun import filled
from kraise.raising.collective.frame import Frame
from kraise.raising.collective.plan import Trials, plan_of
from kraise.raising.collective.requests import Tied
from kraise.raising.run.arithmetic import operation, tidy
from kraise.raising.run.context import Context
from kraise.raising.run.state import State

_TIMES = {1: "", 2: "twice "}


def enter(cx: Context, st: State) -> None:
    """Gives the parameters that are tied their value, and demands it."""
    for name, times in cx.tied.items():
        size = _threads(times)
        cx.checks.append((eq.Op("eq", (st.env[name], size), BOOL), f"{name} must be {_TIMES[times]}block"))
        cx.assumptions.append(f"{name} is {_TIMES[times]}the number of threads of a block")
        st.env[name] = size


def ask(
    cx: Context,
    st: State,
    stmts: tuple[k.Stmt, ...],
    after: list[frozenset[str]],
    found: Frame,
    cases: tuple[tuple[int, ...], ...],
) -> None:
    """Raises Tied if the run would be clear with a parameter tied to the block."""
    if not isinstance(stmts[0], k.While | k.For):
        return
    for size in _sizes(cx, st, stmts[0]):
        for times in sorted(_TIMES, key=lambda n: (_cells(st, {size: _threads(n)}, found) != n, -n)):
            value: dict[eq.Expr, eq.Expr] = {size: _threads(times)}
            seen = replace(st.copy(), env={n: tidy(substitute(v, value)) for n, v in st.env.items()})
            trials = Trials(cx, seen, stmts, after, found)
            for outlets, sizes in product((False, True), cases):
                if (not outlets or trials.stored) and plan_of(trials, sizes, outlets) is not None:
                    raise Tied(size.name, times)


def _cells(st: State, value: dict[eq.Expr, eq.Expr], found: Frame) -> int:
    """How many cells of an array have been filled for each thread where the size has this ``value``: the likeliest
    size."""
    threads = 64
    writes = [
        replace(a, subscripts=tuple(tidy(substitute(s, value)) for s in a.whole or a.subscripts), whole=())
        for a in st.accesses
        if a.write and a.array in st.locals and st.locals[a.array].shared
    ]
    seen = replace(st, accesses=writes)
    counts = (int(filled(seen, a, found, threads, (4 * threads,)).sum()) // threads for a in {w.array for w in writes})
    return max(counts, default=1)


def _threads(times: int) -> eq.Expr:
    return operation("mul", (eq.Const(times, INT), eq.Param("block.x", INT)), INT)


def _sizes(cx: Context, st: State, s: k.Stmt) -> Iterator[eq.Param]:
    """The integer parameters that decide what ``s`` does."""
    own = {p.name for p in cx.function.params} - cx.tied.keys()
    read = {n.name for n in walked(s) if isinstance(n, k.Var)}
    for n in topological([st.env[n] for n in sorted(read) if n in st.env]):
        if isinstance(n, eq.Param) and n.type.is_integer and n.name in own and st.env.get(n.name) is n:
            yield n
