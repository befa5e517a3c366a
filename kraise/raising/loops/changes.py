"""Which arrays the body of a loop writes."""

from __future__ import annotations

from collections.abc import Sequence

from kraise.analysis.dependence import Access
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.raising.loops.touched import stores
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import exposed
from kraise.raising.run.state import State
from kraise.raising.run.values import resolve


def stored(cx: Context, st: State, s: k.For | k.While) -> list[str] | None:
    """The arrays that the body names in stores, None if one of them is not there before it, or is the kernel's own
    (what a round finds there may be what the one before left, which a run before tells). It may write fewer (a store
    that no thread comes to)."""
    arrays = {resolve(cx, st, a) for a in stores(s.body)}
    return sorted(arrays) if arrays <= st.versions.keys() - st.locals.keys() else None


def changed(before: State, after: State, entries: dict[str, eq.Version]) -> list[str]:
    """The arrays that a run of the body has written that began with the ``entries`` in place of what was there
    ``before``."""
    start = before.copy()
    start.versions |= entries
    own = after.accesses[len(before.accesses) :]
    found = sorted(a for a in start.versions | after.versions if _changed(start, after, a, own))
    before.versions |= {a: v for a, v in start.versions.items() if a not in before.versions}
    return found


def written(cx: Context, st: State, s: k.For | k.While, live: frozenset[str]) -> list[str]:
    """The arrays that the body writes, found by a run whose results are thrown away."""
    from kraise.raising.run.statements import block

    probe = st.copy()
    probe.before, probe.out, probe.accesses = [*st.before, *st.out], [], []
    block(cx, probe, s.body, live | exposed(s.body, live))
    return sorted(a for a in st.versions | probe.versions if _changed(st, probe, a, probe.accesses))


def _changed(before: State, after: State, array: str, accesses: Sequence[Access]) -> bool:
    if array in after.locals and array not in before.locals:
        return False  # made anew in each round
    if array not in before.versions:
        if any(a.write and a.array == array for a in accesses):
            before.versions[array] = eq.Version(array, 0)
            return True
        return False
    return after.versions[array] is not before.versions[array]


__all__ = ["changed", "stored", "written"]
