"""What a tree reduction of one round leaves in its array, where the next round loads it.

``s[t] += x[row, t];`` and a tree over ``s`` in a loop over rows: but for the tree's result, ``s`` holds half-combined
sums when the next round adds to them, which the equations do not have.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraise.analysis.conditions import conjunction, negate
from kraise.analysis.dependence import impossible
from kraise.ir import equations as eq
from kraise.ir.walk import topological
from kraise.raising.memory.partly import filling
from kraise.raising.run.context import Context
from kraise.raising.run.state import Raw, RawWrite, expressions, flat

Path = tuple[eq.Expr, ...]


def loaded(cx: Context, raws: Iterable[Raw], entry: eq.Version) -> bool:
    """Whether stores of a round load a cell of ``entry``, the array as the round before has left it."""
    stores = {r.after: r for r in flat(raws) if isinstance(r, RawWrite)}
    for r in stores.values():
        nodes = topological(expressions(r))
        cells = [(n.version, n.subscripts) for n in nodes if isinstance(n, eq.Read) and not n.view]
        if r.accumulate:
            cells.append((r.before, r.subscripts))
        if any(_reaches(cx, stores, v, subs, r.path, entry) for v, subs in cells if v.array == entry.array):
            return True
    return False


def _reaches(
    cx: Context, stores: dict[eq.Version, RawWrite], version: eq.Version, subs: Path, guards: Path, entry: eq.Version
) -> bool:
    """Whether no store of the round may have filled the cell."""
    if version is entry:
        return not impossible((*guards, *cx.facts))
    store = stores.get(version)
    found = None if store is None else filling(cx, store, subs, guards)
    if store is None or found is None:
        return False
    _, left = found
    if not left:
        return bool(store.accumulate) and _reaches(cx, stores, store.before, subs, guards, entry)
    both = conjunction(left)
    assert both is not None
    return _reaches(cx, stores, store.before, subs, (*guards, negate(both)), entry)


__all__ = ["loaded"]
