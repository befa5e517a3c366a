"""Arrays that the rounds of a fold write cell by cell: what the rounds store, stacked (a scan's outputs)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kraise.analysis.boxes import Unbounded, box
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.walk import free_indices, substitute, topological
from kraise.raising.run.arithmetic import index_like
from kraise.raising.run.state import Raw, RawFold, RawWrite, expressions

if TYPE_CHECKING:
    from kraise.raising.loops.folds import Folding


def stacked(fold: Folding, pending: list[str]) -> dict[str, tuple[RawWrite, eq.Expr, tuple[eq.Axis, ...]]]:
    """The arrays that the rounds write cell by cell and do not read: what each round stores, to be stacked, and the
    loops within a round over which it stores that.

    The one write of the array must be at a cell that moves with the index, in every round, and the only cell of it that
    a round loads the one that it stores. What an accumulation adds is stacked, and added after the loop: a loop around
    repeats it.
    """
    out: dict[str, tuple[RawWrite, eq.Expr, tuple[eq.Axis, ...]]] = {}
    j = fold.index
    for a in fold.written:
        writes = [r for r in fold.raws if isinstance(r, RawWrite) and r.after.array == a]
        if len(writes) != 1 or fold.problem.step not in (1, -1):
            continue
        (raw,) = writes
        if raw.before is not fold.entries[a] or _written_inside(fold.raws, a):
            continue
        moved = [s for s in raw.subscripts if j.name in free_indices(s)]
        if len(moved) != 1 or to_poly(moved[0]).coefficient(j).value not in (1, -1):
            continue
        row = _row(fold, raw)
        if row is None or not all(map(index_like, raw.subscripts)) or free_indices(moved[0]) & {x.name for x in row}:
            continue  # (a later round stores again to a cell of ``i + j``)
        mapping, value = fold.from_outside(a, raw), raw.value
        rest = [e for r in fold.raws if r is not raw for e in expressions(r)]
        rest += [fold.problem.updates[n] for n in pending]
        after = [substitute(e, mapping) for e in (value, *rest, *raw.subscripts)]
        versions = {n.version for n in topological(after) if isinstance(n, eq.Read)}
        if versions & {fold.entries[a], raw.after}:
            continue
        out[a] = raw, substitute(value, mapping), row
    return out


def _row(fold: Folding, raw: RawWrite) -> tuple[eq.Axis, ...] | None:
    """The ranges of the loops within a round over which it stores: the same in each round, and nothing else decides.
    None where that is not so."""
    own = tuple(c for c in raw.path if c not in {*fold.st.path, *fold.bounds})
    names = tuple(n for n in raw.loops if n not in fold.st.open and n != fold.index.name)
    if not set().union(*map(free_indices, own)) <= set(names):
        return None
    try:
        found = box(names, own)
    except Unbounded:
        return None
    bounds = [e for a in found.axes for e in (a.lo, a.hi)]
    even = all(a.step == 1 for a in found.axes) and not any(map(free_indices, bounds))
    return found.axes if even and not found.residue and all(map(index_like, bounds)) else None


def _written_inside(raws: Sequence[Raw], array: str) -> bool:
    return any(isinstance(r, RawFold) and any(c.outside.array == array for c in r.fold.arrays) for r in raws)
