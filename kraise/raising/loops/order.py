"""Whether the rounds of a loop may be run statement by statement, all rounds at once."""

from __future__ import annotations

from kraise.analysis.dependence import Access, may_meet
from kraise.ir import equations as eq
from kraise.ir.walk import free_indices, substitute, topological
from kraise.raising.loops.idle import idle
from kraise.raising.memory.levels import set_once
from kraise.raising.memory.phases import BARRIER
from kraise.raising.memory.private import refilled
from kraise.raising.run.context import Context
from kraise.raising.run.state import State, map_access


def dependence(
    cx: Context, accesses: list[Access], index: str, step: int, st: State, inner: State, used: list[eq.Expr]
) -> str | None:
    """Why running all rounds of one statement before the next would not keep the order, or None if it would.

    Statement by statement (as in Allen and Kennedy's vectorization), a read sees what earlier statements stored in any
    round and nothing of later ones; within a loop that stays sequential inside, any conflict counts. ``used`` are the
    expressions in which a load's value may occur: the load of an accumulation's own cell counts if it is used
    elsewhere too. Where a barrier parts the rounds, what another thread stored in one counts, too (without one it would
    be a race).
    """
    name = index
    shared = frozenset(st.open)
    ahead, behind = ("<", ">") if step > 0 else (">", "<")
    nodes = {n for n in topological(used) if isinstance(n, eq.Read)}
    by_array: dict[str, list[Access]] = {}
    made = {**st.locals, **inner.locals}
    met = {
        n
        for a in accesses
        if a.array == BARRIER
        for n in cx.thread_names
        if a.accumulate == "grid" or n not in cx.blocks
    }
    for a in accesses:
        if (not a.own or a.node in nodes) and not (a.answered and a.array in made and made[a.array].private):
            by_array.setdefault(a.array, []).append(a)
    for group in by_array.values():
        for w in (a for a in group if a.write):
            for other in group:
                if w.accumulate and other.write and other.accumulate == w.accumulate:
                    continue
                if w is other and not w.accumulate and one_value(w, shared):
                    continue
                inside = set(w.folds) - set(st.folds) or set(other.folds) - set(st.folds)
                if inside:
                    relation = "!="
                elif not other.write:
                    # a read that the order of statements puts before the write sees no earlier round's write; one after
                    # it sees no write of a later round
                    relation = ahead if other.order <= w.order else behind
                elif w is other or other.order <= w.order:
                    # an earlier round's store by a later (or the same) statement must not win
                    relation = ahead
                else:
                    continue
                alike = w.subscripts == other.subscripts and not any(name in free_indices(s) for s in w.subscripts)
                fixed = shared if alike else shared - met  # the thread of both
                pair = _at_one_round(w, other, shared) if fixed == shared else (w, other)
                meet = may_meet(*pair, (name,), fixed, relation, cx.injective)
                if meet and not idle(cx, w, other, shared, used) and not _once(cx, st, inner, w.array):
                    if other.write and refilled(cx, made, w.array, inner, name):
                        continue
                    if w.array in made and not made[w.array].private:
                        cx.hindering.add(w.array)
                    return _why(w, other, name)
    return None


def _at_one_round(w: Access, other: Access, shared: frozenset[str]) -> tuple[Access, Access]:
    """Two accesses in one round of each loop around, by one thread: what these loops carry is a number like a parameter
    (``k`` in ``for j: out[k + j] = ...``, which moves on behind that loop)."""
    nodes = topological((*w.subscripts, *w.whole, *w.path, *other.subscripts, *other.whole, *other.path))
    carried = {
        n: eq.Param(f"$carried {n.fold} {n.name}", n.type)
        for n in nodes
        if isinstance(n, eq.CarryIn) and not n.axes and n.type.is_integer and n.fold.split("#")[0] in shared
    }
    if not carried:
        return w, other
    return tuple(map_access(a, lambda e: substitute(e, carried)) for a in (w, other))  # type: ignore[return-value]


def _once(cx: Context, st: State, inner: State, array: str) -> bool:
    """Whether every round finds what was there before the loop, as far as anything asks."""
    kept = [v for n, v in inner.env.items() if n in st.env]
    return array not in inner.locals and set_once(cx, inner.out[len(st.out) :], kept, array)


def one_value(w: Access, shared: frozenset[str]) -> bool:
    """Whether every round stores the same number: the order of the stores does not matter."""
    if w.value is None or free_indices(w.value) - shared:
        return False
    return not any(isinstance(n, eq.Read | eq.CarryIn | eq.FoldResult) for n in topological((w.value,)))


def _why(w: Access, other: Access, index: str) -> str:
    verb = "written" if other.write else "read"
    line = f" (line {other.span.line})" if other.span else ""
    return f"an element of {w.array} that one round of {index} writes is {verb} by another{line}"
