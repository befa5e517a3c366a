"""What one thread does alone (``if (threadIdx.x != 0 || blockIdx.x != 0) return;``): a program without threads."""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.conditions import Fact, classify
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import substitute
from kraise.raising.run.arithmetic import tidy
from kraise.raising.run.state import State


def alone(st: State) -> State | None:
    """The state without the indices of threads, each of which the path makes one number (``if (threadIdx.x != 0)
    return``); None where several threads are at work."""
    threads = [n for n in st.open if n not in st.folds]
    if not threads:
        return st
    pinned: dict[eq.Expr, eq.Expr] = {}
    for name in threads:
        index, number = eq.Index(name, INT), _number(st.path, name)
        if number is None:
            return None
        pinned[index] = eq.Const(number, INT)
    out = st.copy()
    out.open = tuple(n for n in st.open if n in st.folds)
    path = (tidy(substitute(c, pinned)) for c in st.path)
    out.path = tuple(c for c in path if not (isinstance(c, eq.Const) and c.value))
    return out


def as_thread(done: State, st: State) -> None:
    """What was run without the thread's indices as its own again: races are looked for under its own number."""
    begun = len(st.accesses)
    own = [replace(a, path=tuple(dict.fromkeys((*st.path, *a.path)))) for a in done.accesses[begun:]]
    done.accesses, done.open, done.path = [*done.accesses[:begun], *own], st.open, st.path


def _number(path: tuple[eq.Expr, ...], name: str) -> int | None:
    """The one number that the path leaves of an index, if a condition says which."""
    for c in path:
        match classify(c):
            case Fact("eq", poly) if poly.indices() == {name}:
                slope = poly.coefficient(eq.Index(name, INT)).value
                rest = poly.without(eq.Index(name, INT)).value
                if slope in (1, -1) and rest is not None:
                    return int(-rest * slope)
    return None
