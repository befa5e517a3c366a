"""The lanes on which a carried scalar may depend, told before the loop's body is run.

Where lanes exchange values in a loop, the loop must be known to have the same rounds for all of them before the
exchange is met (``for (int s = 16; s > 0; s >>= 1)``): s is the same in all lanes if what it starts with is, and what
it is made of in a round.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.ir.walk import free_indices
from kraise.raising.loops.touched import stores
from kraise.raising.run.context import Context
from kraise.raising.run.state import State
from kraise.raising.run.values import resolve

_OPAQUE = (k.Load, k.Warp, k.Call, k.Shape, k.CallStmt, k.Atomic)


def depending(
    cx: Context, st: State, s: k.For | k.While, carried: dict[str, eq.Expr], bounds: tuple[eq.Expr, ...]
) -> dict[str, frozenset[str]]:
    """For each of the ``carried`` (with its first value) the indices on which it may depend. What is loaded from arrays
    that the loop stores to, or that the kernel makes, and what a function gives, may depend on all."""
    everything = frozenset(st.open)
    stored = {resolve(cx, st, a) for a in stores(s.body)} | st.locals.keys()
    whole = frozenset().union(*map(free_indices, bounds)) & everything
    # after some lanes have left the loop, what the others carry on is theirs alone
    feeds: list[tuple[str, tuple[object, ...]]] = []
    _collect(s.body, (s.condition,) if isinstance(s, k.While) else (), feeds)
    found = {n: frozenset(free_indices(e)) & everything | whole for n, e in carried.items()}
    own: dict[str, frozenset[str]] = {n: found.get(n, frozenset()) for n, _ in feeds}

    def of(parts: Iterable[object]) -> frozenset[str]:
        out: frozenset[str] = frozenset()
        for x in walked(tuple(parts)):
            match x:
                case k.Var(name=name):
                    inside = own.get(name)
                    outside = free_indices(st.env[name]) if name in st.env else frozenset()
                    out |= (frozenset(outside) if inside is None else inside) & everything
                case k.Hw(kind=kind, axis=axis):
                    out |= free_indices(cx.threads[kind, axis]) & everything
                case k.Load(array=array) if resolve(cx, st, array) not in stored:
                    continue  # its subscripts tell
                case _ if isinstance(x, _OPAQUE):
                    return everything
        return out

    changed = True
    while changed:
        changed = False
        for n, parts in feeds:
            more = of(parts) - own[n]
            if more:
                own[n] |= more
                changed = True
    return {n: own.get(n, found[n]) | found[n] for n in carried}


def _collect(stmts: tuple[k.Stmt, ...], under: tuple[object, ...], out: list[tuple[str, tuple[object, ...]]]) -> None:
    """Each local that is assigned, with what its value is made of and asked for."""
    for s in stmts:
        match s:
            case k.Assign(name=name, value=v):
                out.append((name, (v, *under)))
            case k.If(condition=c, body=a, orelse=b):
                _collect(a, (*under, c), out)
                _collect(b, (*under, c), out)
            case k.For(var=var, start=x, stop=y, step=z, body=body):
                out.append((var, (x, y, z, *under)))
                _collect(body, (*under, x, y, z), out)
            case k.While(condition=c, body=body):
                _collect(body, (*under, c), out)
            case k.Atomic(result=name) if name:
                out.append((name, (s,)))
            case k.CallStmt(results=results):
                out += [(name, (s,)) for name in results]


__all__ = ["depending"]
