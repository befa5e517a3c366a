"""Threads that do several elements each, dealt out by thread and round: one index over all elements.

``for k in range(4): i = block * 4 * blockDim + k * blockDim + thread``, ``i = 4 * g + k`` and ``for i in range(g *
chunk, min(g * chunk + chunk, n))`` number the elements once each. Where a kernel is such a loop, and its body speaks of
i alone, what each element gets does not depend on who computes it: the loop's variable (or the thread's index) is
written as i less the rest, and cancels out by arithmetic. As for one element a thread, the launch is taken to cover
what the guard on i lets through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kraise.analysis.conditions import is_static
from kraise.analysis.dependence import nonnegative
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.diagnostics import Refused
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, substitute, topological, transform
from kraise.raising.collective.requests import Sized
from kraise.raising.memory.phases import has_barrier
from kraise.raising.run.arithmetic import tidy
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned
from kraise.raising.run.state import RawWrite, State, expressions
from kraise.raising.run.values import value

_TOUCHING = (k.Store, k.Atomic, k.Load, k.CallStmt, k.Call)


@dataclass(frozen=True)
class _Deal:
    """How elements are dealt out: ``moved`` says what an index is, less the others, of the element ``index``; ``each``
    how many a thread has, None where all threads have all of them whatever the launch."""

    index: eq.Index
    moved: dict[eq.Expr, eq.Expr]
    each: Poly | None
    bounds: tuple[eq.Expr, ...] = ()
    check: tuple[eq.Expr, str] | None = None


def dealt(cx: Context, st: State, s: k.For, start: eq.Expr, stop: eq.Expr, step: eq.Expr, live: frozenset[str]) -> bool:
    """Runs the loop as one over all elements; returns False, having done nothing, if it is no such loop."""
    from kraise.raising.run.statements import block

    start, stop = _signed(start), _signed(stop)
    threads = [n for n in st.open if n in cx.axes]
    if to_poly(step).value != 1 or s.orelse or st.folds or s.var in live or cx.cooperative or not threads:
        return False
    if len(st.open) != len(threads) or {cx.axes[n] for n in threads} != {0} or not _whole_kernel(cx, s):
        return False
    carried = set(assigned(s.body)) & (set(st.env) | live)
    outside = [c for c in st.path if free_indices(c) & set(threads)]
    if carried or has_barrier(cx, s.body) or any(c not in cx.launch_path for c in outside):
        return False
    j = eq.Index(f"{s.var}'", INT)
    found = _place(cx, st, s, j)
    deal = None if found is None else _deal(cx, st, s, threads, j, start, stop, *found)
    if deal is None:
        return False
    inner = st.copy()
    inner.env = {n: tidy(substitute(v, deal.moved)) for n, v in (*st.env.items(), (s.var, j))}
    inner.open = (deal.index.name,)
    zero = eq.Op("ge", (deal.index, eq.Const(0, INT)), BOOL)
    inner.path = (*(c for c in st.path if c not in outside), zero, *deal.bounds)
    names, bound, checks = cx.thread_names, dict(cx.threads), list(cx.checks)
    cx.threads |= {key: tidy(substitute(e, deal.moved)) for key, e in bound.items() if key[0] in ("thread", "block")}
    cx.thread_names = tuple(dict.fromkeys((*cx.thread_names, deal.index.name)))
    if deal.check is not None and deal.check not in cx.checks:
        cx.checks.append(deal.check)
    try:
        block(cx, inner, s.body, live)
        done = _only_of(inner, deal.index, len(st.out), len(st.accesses), {*names, *cx.blocks, j.name})
    except Refused:
        done = False
    cx.threads.update(bound)
    if not done:
        cx.thread_names, cx.checks = names, checks
        return False
    if deal.check is not None:
        cx.assumptions.append(deal.check[1].replace("must have", "has"))
    if deal.each is not None:
        cx.dealt[deal.index.name] = to_expr(deal.each)
    inner.env, inner.open, inner.path = st.env, st.open, st.path
    st.become(inner)
    st.rung(s.span, s.var, "rung 1: no loop, its rounds are more threads")
    return True


def _whole_kernel(cx: Context, s: k.For) -> bool:
    """Whether all that the kernel reads and stores is in the loop."""
    inside = sum(isinstance(x, _TOUCHING) for x in walked(s.body))
    return inside == sum(isinstance(x, _TOUCHING) for x in walked(cx.function.body))


def _place(cx: Context, st: State, s: k.For, j: eq.Index) -> tuple[Poly, str] | None:
    """The number that the body first asks about or stores to, and what the source calls it, if it has a name."""
    trial = st.copy()
    trial.env[s.var] = j
    trial.open = (*st.open, j.name)
    todo = list(s.body)

    def named(e: k.Expr) -> tuple[Poly, str]:
        found = to_poly(value(cx, trial, e))
        names = [n for n, v in trial.env.items() if n not in st.env and to_poly(v) == found]
        return found, names[0] if names else s.var

    while todo:
        x = todo.pop(0)
        try:
            match x:
                case k.Assign(name=name, value=v, type=t) if not t.is_inexact and not _loads(v):
                    trial.env[name] = value(cx, trial, v)
                case k.If(condition=k.Op(name="lt", args=(a, _))) if not _loads(a) and named(a)[0].coefficient(j).terms:
                    return named(a)
                case k.If(body=body):
                    todo = [*body, *todo]
                case k.Store(subscripts=(place,)) | k.Atomic(subscripts=(place,)) if not _loads(place):
                    return named(place)
                case k.Store() | k.Atomic() | k.Assign():  # what data say where to store: what is loaded
                    for e in walked((x,)):
                        if isinstance(e, k.Load) and len(e.subscripts) == 1 and not _loads(e.subscripts[0]):
                            found = named(e.subscripts[0])
                            if found[0].coefficient(j).terms:
                                return found
        except Refused:
            return None
    return None


def _loads(e: k.Expr) -> bool:
    return any(isinstance(x, k.Load | k.Call | k.Warp) for x in walked(e))


def _deal(
    cx: Context,
    st: State,
    s: k.For,
    threads: Sequence[str],
    j: eq.Index,
    start: eq.Expr,
    stop: eq.Expr,
    place: Poly,
    name: str,
) -> _Deal | None:
    size, block = to_poly(cx.threads["blockDim", 0]), to_poly(cx.threads.get(("block", 0), eq.Const(0, INT)))
    index = cx.index(name, tuple(n for n in st.open if n not in threads), ("dealt", to_expr(place)))
    g = to_poly(eq.Index(threads[0], INT)) if len(threads) == 1 else None
    first, rounds, whole = to_poly(start), to_poly(stop) - to_poly(start), to_poly(index)
    if g is not None and place == to_poly(j):
        chunk = first.coefficient(eq.Index(threads[0], INT))
        limits = _limits(stop, first + chunk)
        if chunk * g != first or not limits or not is_static(chunk) or chunk.value == 0:
            return None
        bounds = tuple(eq.Op("lt", (index, e), BOOL) for e in limits)
        if any(_in_all(chunk, e, cx.stride(threads[0])) for e in limits):
            return _Deal(index, {j: index}, None, bounds)
        some = (eq.Op("ge", (to_expr(chunk), eq.Const(1, INT)), BOOL), "a thread must have an element or more")
        sure = nonnegative((*st.path, *st.facts), chunk + -1)
        return _Deal(index, {j: index}, chunk, bounds, None if sure else some)
    if first.terms or rounds.value is None or rounds.value < 2:
        return None
    if g is not None and place == rounds * g + to_poly(j):
        return _Deal(index, {j: to_expr(whole - rounds * g)}, rounds)
    thread = next((n for n in threads if place.coefficient(eq.Index(n, INT)).value == 1 and n not in cx.blocks), None)
    if thread is None:
        return None
    rest = place - to_poly(eq.Index(thread, INT))
    begun = block * size if g is not None else Poly()
    if rest == size * to_poly(j) + rounds * size * block - begun:
        return _Deal(index, {eq.Index(thread, INT): to_expr(whole - rest)}, rounds)
    between = rest.coefficient(j).value
    if g is not None and between and between > 1 and rest == to_poly(j) * between + rounds * block * between - begun:
        raise Sized(between)  # the source counts on blocks of so many threads
    return None


def _limits(stop: eq.Expr, end: Poly) -> list[eq.Expr]:
    """What else than the end of the thread's own part stops the loop."""
    parts: tuple[eq.Expr, ...] = ()
    match stop:
        case eq.Op(name="min", args=args):
            parts = args
        case eq.Op(name="select", args=(eq.Op(name="lt" | "le", args=args), a, b)) if args == (a, b):
            parts = args
        case eq.Op(name="select", args=(eq.Op(name="gt" | "ge", args=args), a, b)) if args == (b, a):
            parts = args
    left = [e for e in parts if to_poly(e) != end]
    return left if len(left) < len(parts) and all(is_static(to_poly(e)) for e in left) else []


def _signed(e: eq.Expr) -> eq.Expr:
    """``t * ((n + threads - 1) / threads)`` of unsigned numbers, which are none of them below zero and do not wrap: the
    parts of all threads hold n elements."""

    def one(x: eq.Expr) -> eq.Expr:
        match x:
            case eq.Cast(type=t, arg=a) if t.is_integer and a.type.is_integer and (t.bits or 32) >= 32:
                return a
            case eq.Op(name="add" | "mul" | "tdiv" | "min" as name, args=args, type=t) if t.kind == "uint":
                return eq.Op(name, args, INT)
            case eq.Op(name="sub", args=(eq.Op(name="add"), eq.Const(value=1)) as args, type=t) if t.kind == "uint":
                return eq.Op("sub", args, INT)
        return x

    signed = transform(e, one)
    left = topological((signed,))
    return e if any(x.type.kind == "uint" and not isinstance(x, eq.Const | eq.Param) for x in left) else signed


def _in_all(chunk: Poly, limit: eq.Expr, threads: Poly) -> bool:
    """Whether the parts of all threads are ``limit`` elements, rounded up."""
    atoms = list(chunk.atoms())
    match atoms:
        case [eq.Op(name="floordiv" | "tdiv", args=(a, b))] if chunk == to_poly(atoms[0]):
            return to_poly(b) == threads and to_poly(a) == to_poly(limit) + threads + -1
    return False


def _only_of(st: State, index: eq.Index, outs: int, accesses: int, others: set[str]) -> bool:
    """Whether what is new speaks of the element alone, and something other than the launch bounds it."""
    others = others - {index.name}
    raws = st.out[outs:]
    left = [e for r in raws for e in expressions(r)]
    for a in st.accesses[accesses:]:
        left += [*a.subscripts, *a.path]
    if any(free_indices(e) & others for e in left) or not all(isinstance(r, RawWrite) for r in raws):
        return False
    written = [r for r in raws if isinstance(r, RawWrite)]
    above = [[c for c in r.path if isinstance(c, eq.Op) and c.name == "lt" and c.args[0] is index] for r in written]
    return bool(raws) and all(any(is_static(to_poly(c.args[1])) for c in found) for found in above)


__all__ = ["dealt"]
