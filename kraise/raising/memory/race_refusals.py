"""What is said of threads that may meet at a cell, and what to change."""

from __future__ import annotations

from kraise.analysis.conditions import classify
from kraise.analysis.dependence import Access
from kraise.analysis.poly import to_poly
from kraise.diagnostics import Refused, refuse
from kraise.ir import equations as eq
from kraise.ir.walk import free_indices, topological
from kraise.raising.ragged.own_places import COUNTED
from kraise.raising.run.arithmetic import index_like, row_like

HINT = "use an atomic if all of them count, or guard the store to the one that does"
SIZE_HINT = "say how many threads a block has (a launch in this file, or a constant): barriers keep no two blocks apart"
BARRIER_HINT = "put a barrier (cuda.syncthreads(), __syncthreads()) between the two"


def _injective(subscripts: list[eq.Expr]) -> str:
    """What to declare of the index array, by its name where there is one."""
    nodes = topological(subscripts)
    reads = {n.version for n in nodes if isinstance(n, eq.Read)}
    names = {
        n.version.array for n in nodes if isinstance(n, eq.Read) and not n.version.number and n.type.kind != "float"
    }
    if len(reads) == len(names) == 1 and not any(isinstance(n, eq.Reduce | eq.Scan) for n in nodes):
        return f'"{names.pop()} is injective"'
    return '"idx is injective" (idx: the index array)'


def _one_value(condition: eq.Expr) -> frozenset[str]:
    """The index of which a condition leaves one value."""
    fact = classify(condition)
    named = fact.poly.indices() if fact is not None and fact.kind == "eq" else frozenset()
    return named if len(named) == 1 else frozenset()


def _loaded_pitch(subscripts: list[eq.Expr]) -> str:
    """The array of which one element multiplies an index: the length of a row (``i * p->width + j``)."""
    for m in (m for s in subscripts for m in to_poly(s).terms if any(map(free_indices, m))):
        for x in m:
            if isinstance(x, eq.Read) and not free_indices(x):
                return x.version.array
    return ""


def _counter(subscripts: list[eq.Expr]) -> str:
    """The number that a loop carries which is added to a row (``i * m + count``), where each thread has rows of its
    own; "count" for one that is a running count."""
    for p in map(to_poly, (s for s in subscripts if row_like(s) or isinstance(s, eq.Op))):
        carried = [m[0] for m in p.terms if len(m) == 1 and isinstance(m[0], eq.CarryIn | eq.Scan)]
        rows = [m for m in p.terms if len(m) == 2 and any(isinstance(a, eq.Index) for a in m)]
        if len(carried) == 1 and rows and len(p.terms) == 2:
            return carried[0].name.strip("$") if isinstance(carried[0], eq.CarryIn) else "count"
    return ""


def refusal(w: Access, other: Access, threads: tuple[str, ...], where: str, shared: bool, met: bool = False) -> Refused:
    """``where`` they meet, in words, if that is known; ``shared``: in an array of a block; ``met``: there are barriers,
    and how many threads come to them is not known."""
    which = ", ".join(threads)
    seen = f" ({where})" if where else ""
    if w is other:
        counted = [n for s in w.subscripts for n in free_indices(s) if n.startswith(COUNTED)]
        scattered = [s for s in w.subscripts if counted or not index_like(s)]
        if pitch := _loaded_pitch(scattered):
            reason = (
                f"two threads may store to one element of `{w.array}`: its rows are as long as `{pitch}` in memory says"
            )
            return refuse("KR202", reason, w.span, "pass this size as a parameter (a struct by value, not its address)")
        if counter := _counter(scattered):
            what = f"`{counter}`, which a loop counts, may pass the end of its row"
            reason = f"two threads may store to one element of `{w.array}`: {what}"
            hint = f'guard it (if ({counter} < LENGTH OF A ROW)), or declare it: --assume "{w.array} is stored once"'
            return refuse("KR202", reason, w.span, hint)
        if scattered:
            return refuse(
                "KR202",
                f"two threads may store to one element of `{w.array}`: "
                "nothing says that its subscript takes each value once",
                w.span,
                f"use an atomic, or declare it: --assume {_injective(scattered)} or "
                f'"{w.array} is stored once" (where not all threads store)',
            )
        moving = set(threads) & frozenset().union(*(free_indices(s) for s in w.subscripts))
        pinned = {n for c in w.path for n in _one_value(c)}  # if (lane == 0)
        if still := ", ".join(t for t in threads if t not in moving | pinned):
            return refuse(
                "KR201",
                f"all threads that differ in {still} write the same element of `{w.array}`{seen}",
                w.span,
                "guard the store to one thread, or use an atomic",
                where,
            )
        reason = f"different threads ({which}) may write one element of `{w.array}`{seen}"
        return refuse("KR201", reason, w.span, HINT, where)
    verb = "writes" if other.write else "reads"
    line = f" in line {other.span.line}" if other.span else ""
    return refuse(
        "KR201",
        f"a thread writes an element of `{w.array}` that another one {verb}{line}, with no barrier between{seen}",
        w.span,
        BARRIER_HINT if shared else (SIZE_HINT if met else "write to another array than the one that is read"),
        where,
    )
