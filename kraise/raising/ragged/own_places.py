"""Places that a loop to the longest row counts: each lane's lie in its own row.

In a loop that stays (:func:`kraise.raising.ragged.loops.longest`) the place in the flat array is a number that the loop
carries, of which a round says that it is before the row's end. That it is not before the row's start holds, too: it
began there and went up. With both, the rows of a pointer that does not decrease are told apart (:mod:`..segments`), so
that a lane may store where it is, and load what it stored.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.dependence import Access
from kraise.analysis.segments import spans
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import substitute, topological
from kraise.raising.checked import rely_on_order
from kraise.raising.run.context import Context
from kraise.raising.run.state import State

COUNTED = "counted'"  # how the names of such numbers as indices begin


def since_start(st: State, first: int, counter: str, start: eq.Expr, step: int) -> None:
    """Says of the accesses from ``first`` on that a loop's ``counter`` began at ``start``."""
    for at in range(first, len(st.accesses)):
        a = st.accesses[at]
        own = {n for n in topological(a.subscripts) if isinstance(n, eq.CarryIn) and n.name == counter}
        begun = tuple(eq.Op("ge" if step > 0 else "le", (n, start), BOOL) for n in own)
        st.accesses[at] = replace(a, path=(*a.path, *(c for c in begun if c not in a.path)))


def by_places(cx: Context, a: Access) -> Access:
    """``a`` with such numbers as indices, where they lie in rows of a pointer; which is taken not to decrease."""
    carried = [n for n in topological(a.subscripts) if isinstance(n, eq.CarryIn) and n.type.is_integer]
    if not carried:
        return a
    names = {n: f"{COUNTED}{n.fold}'{n.name}" for n in carried}
    numbers: dict[eq.Expr, eq.Expr] = {n: eq.Index(name, INT) for n, name in names.items()}
    path = tuple(substitute(c, numbers) for c in a.path)
    rows = [s for s in spans(path) if s.index in names.values()]
    if not rows:
        return a
    for version in dict.fromkeys(s.pointer.version for s in rows):
        text = f"{version.array} must not decrease"
        if text not in cx.assumptions:
            rely_on_order(cx, version, INT, text)
    return replace(a, path=path, subscripts=tuple(substitute(e, numbers) for e in a.subscripts))


__all__ = ["COUNTED", "by_places", "since_start"]
