"""Whether blocks of a size that was only suggested make sense of the source."""

from __future__ import annotations

from kraise.analysis.dependence import impossible
from kraise.ir import kernel as k
from kraise.raising.run.context import Context
from kraise.raising.run.state import State
from kraise.raising.threads.indices import Ways
from kraise.raising.threads.sizes import beyond


def idle(cx: Context, st: State, body: tuple[k.Stmt, ...], ways: Ways) -> bool:
    """Whether the source speaks of threads that such blocks do not have, or none of theirs meets a store's guard."""
    if all(abs(n) == 1 for n in ways.values()):
        return False
    if beyond(body, {axis: -abs(n) for axis, n in ways.items()}):
        return True
    return any(a.write and a.array not in cx.made and impossible((*a.path, *cx.facts)) for a in st.accesses)


__all__ = ["idle"]
