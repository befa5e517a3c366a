"""What the second arm of a branch sees of an array that the first one stores to: the array before the branch.

A thread that takes the second arm has not run the first one, and what another thread stores there it does not read with
no barrier between: that would be the race that :mod:`kraise.raising.memory.races` refuses. Loads of both arms are then
the same loads. Rounds of a plain loop are another matter: one may read what the round before has stored.
"""

from __future__ import annotations

from kraise.ir import equations as eq
from kraise.raising.run.context import Context
from kraise.raising.run.state import State


def unseen(cx: Context, st: State, before: dict[str, eq.Version]) -> dict[eq.Version, eq.Version]:
    """``st.unseen`` for the second arm; ``before`` are the versions of arrays before the first one."""
    if not cx.thread_names or not set(st.open) <= {*cx.thread_names}:
        return st.unseen
    changed = {st.versions[a]: v for a, v in before.items() if st.versions.get(a, v) is not v and a not in st.locals}
    return st.unseen | changed


def seen(st: State, array: str) -> eq.Version:
    """The version of an array that a load reads."""
    version = st.versions[array]
    while version in st.unseen:
        version = st.unseen[version]
    return version


__all__ = ["seen", "unseen"]
