"""Cells that stay where they are while a loop goes round, one for each index of the loops within it.

``for k: …; for d: acc[d] = acc[d] * c + p * V[k, d]`` carries a value for each d: what a round stores in a cell comes
from what the round before stored there, and from nothing else of the array. Where a rule settles these values the loop
is an index as any other (:mod:`kraise.raising.carried`), and one store after it puts them into the array.

Side conditions, each checked: all stores of a round are to the same cells, whose subscripts are indices of the loops
within (each of them) and around; no other cell of the array is loaded in the loop, and these by these stores alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kraise.analysis.conditions import conjunction
from kraise.analysis.dependence import implied
from kraise.ir import equations as eq
from kraise.ir.walk import free_indices, substitute, topological
from kraise.raising.memory.private import held_before
from kraise.raising.run import simplify
from kraise.raising.run.context import Context
from kraise.raising.run.state import Raw, RawFold, RawWrite, State, expressions


@dataclass(frozen=True)
class Lane:
    """The cell as a round finds it, what the round makes of it, what it held before the loop, and the store to it."""

    cell: eq.Read
    update: eq.Expr
    init: eq.Expr
    store: RawWrite

    def stored(self, value: eq.Expr) -> RawWrite:
        """The store of ``value`` after the loop."""
        return replace(self.store, value=value)


def lanes(
    cx: Context,
    st: State,
    inner: State,
    raws: list[Raw],
    since: int,
    versions: Mapping[str, tuple[eq.Version, eq.Version]],
    index: str,
) -> dict[str, Lane]:
    """Such cells of the arrays that the rounds ``raws`` of a loop over ``index`` store to; ``versions``: what a round
    begins with, and what was before the loop."""
    found: dict[str, Lane] = {}
    for array, (entry, outside) in versions.items():
        inside = any(isinstance(r, RawFold) and any(c.outside.array == array for c in r.fold.arrays) for r in raws)
        stores = [r for r in raws if isinstance(r, RawWrite) and r.after.array == array]
        own = {entry, *(w.after for w in stores)}
        others = [e for r in raws if r not in stores for e in expressions(r)] + list(inner.env.values())
        others += [c for w in stores for c in w.path]
        if inside or not stores or any(isinstance(n, eq.Read) and n.version in own for n in topological(others)):
            continue
        made = _composed(stores, entry, {*inner.path, *st.path}, frozenset((*st.open, index)), index)
        if made is None:
            continue
        cell, update, path = made
        held = held_before(cx, st, inner.accesses[since:], {entry: outside})
        loops = tuple(n for n in stores[0].loops if n != index)
        store = replace(stores[0], after=stores[-1].after, loops=loops, path=path, accumulate="")
        init = held.get(cell) or _filled(st, outside, cell, (*st.path, *path)) or cell
        found[array] = Lane(cell, update, init, store)
    return found


def _composed(
    stores: list[RawWrite], entry: eq.Version, known: set[eq.Expr], around: frozenset[str], index: str
) -> tuple[eq.Read, eq.Expr, tuple[eq.Expr, ...]] | None:
    """The cell, what all stores of a round make of it together, and the conditions that do not depend on the round."""
    first = stores[0]
    names = [x.name for x in first.subscripts if isinstance(x, eq.Index)]
    within = [n for n in first.loops if n not in around]
    if len(names) != len(first.subscripts) or len({*names, *within}) != len(names) or index in names:
        return None
    cell = eq.Read(entry, first.subscripts, first.value.type, first.view)
    renamed = [_renamed(w, first, frozenset(within), around) for w in stores]
    if any(w is None for w in renamed):
        return None
    group = [w for w in renamed if w is not None]
    guards = [[c for c in w.path if c not in known and not free_indices(c) <= {*within}] for w in group]
    ranges = [{c for c in w.path if c not in known and free_indices(c) <= {*within}} for w in group]
    if any(r != ranges[0] for r in ranges) or any(free_indices(c) & {*within} for g in guards for c in g):
        return None
    common = [c for c in guards[0] if all(c in g for g in guards)]
    now: eq.Expr = cell
    before = entry
    for w, own in zip(group, guards, strict=True):
        loads = {n for n in topological((w.value,)) if isinstance(n, eq.Read) and n.version.array == entry.array}
        found = {n for n in loads if (n.version, n.subscripts, n.view) == (before, cell.subscripts, cell.view)}
        if w.before is not before or loads - found or any(n.type != cell.type for n in found):
            return None
        value = substitute(w.value, dict.fromkeys(found, now))
        value = value if not w.accumulate else simplify.op(w.accumulate, (now, value), cell.type)
        where = conjunction([c for c in own if c not in common])
        now = value if where is None else simplify.select(where, value, now, cell.type)
        before = w.after
    always = conjunction(common)
    now = now if always is None else simplify.select(always, now, cell, cell.type)
    return cell, now, tuple(c for c in first.path if c not in guards[0] and index not in free_indices(c))


def _filled(st: State, version: eq.Version, cell: eq.Read, path: tuple[eq.Expr, ...]) -> eq.Expr | None:
    """The number that the last store before the loop put into all such cells, if it did."""
    last = next((r for r in reversed(st.out) if isinstance(r, RawWrite) and r.after is version), None)
    if last is None or last.accumulate or not isinstance(last.value, eq.Const) or last.view != cell.view:
        return None
    moved = {a: b for a, b in zip(last.subscripts, cell.subscripts, strict=False) if isinstance(a, eq.Index)}
    if len(moved) != len(cell.subscripts) or len(last.subscripts) != len(cell.subscripts):
        return None
    asked = [substitute(c, moved) for c in last.path]
    return last.value if all(c in path or implied(path, c) for c in asked) else None


def _renamed(w: RawWrite, first: RawWrite, within: frozenset[str], around: frozenset[str]) -> RawWrite | None:
    """A store with the names that the first one has for its indices; None if it is to other cells."""
    own = [n for n in w.loops if n not in around]
    pairs = list(zip(w.subscripts, first.subscripts, strict=False))
    moved = {a: b for a, b in pairs if isinstance(a, eq.Index) and a.name in own and isinstance(b, eq.Index)}
    if len(own) != len(within) or len(moved) != len(own) or {b.name for b in moved.values()} != within:
        return None
    if w.view != first.view or len(w.subscripts) != len(first.subscripts):
        return None
    subs = tuple(substitute(x, moved) for x in w.subscripts)
    if subs != first.subscripts:
        return None
    path = tuple(substitute(c, moved) for c in w.path)
    return replace(w, subscripts=subs, value=substitute(w.value, moved), path=path, loops=first.loops)


__all__ = ["Lane", "lanes"]
