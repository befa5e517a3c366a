"""Pointers that stay where they are while others go round over the same memory: ``src = x`` before a loop that swaps
``src`` and ``dst``, and ``x`` again after it.

What such a name points to then is one of the memories that went round, by the number of rounds: it gets a variable of
its own with what is there. Side condition, checked: as long as a name that may point to the same memory is in use,
nothing writes to either (:meth:`Raising.written`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.host_names import read_within, reads, set_within
from kraise.raising.hosts.state import Memory, State, View

if TYPE_CHECKING:
    from kraise.raising.hosts.function import Raising


def held_back(head: State, trial: State, stmt: h.Stmt, unknown: list[str]) -> list[str]:
    """The names that no round mentions and that point where others point at the head of a round, where it is
    ``unknown`` what those point to."""
    mentioned = read_within((stmt,)) | set_within((stmt,))
    still = [n for n, v in head.points.items() if n not in mentioned and trial.points.get(n) == v] if unknown else []
    others = {v.slot for n, v in head.points.items() if n not in still}
    return [n for n in still if head.points[n].offset is None and head.points[n].slot in others]


def put_back(
    r: Raising,
    state: State,
    back: dict[str, View],
    orbit_of: Callable[[int], tuple[int, ...] | None],
    rounds: k.Expr,
    out: list[o.Stmt],
    stmt: h.Stmt,
) -> None:
    """Where the names that were held back point after the loop."""
    own: dict[int, int] = {}
    for name, view in sorted(back.items()):
        orbit = orbit_of(view.slot)
        if orbit is None:
            continue  # refused where it is used
        if isinstance(rounds, k.Const) or len(orbit) == 1:
            at = orbit[int(rounds.value.real) % len(orbit)] if isinstance(rounds, k.Const) else orbit[0]
            state.points[name] = View(at)
            continue
        if view.slot not in own:
            variables = [v for s in orbit if (v := state.values.get(s)) is not None]
            if len(variables) < len(orbit):
                continue
            own[view.slot] = slot = r.slot(name, state)
            tables: tuple[dict[int, Any], ...] = (r.sizes, r.elements)
            for known in tables:
                if orbit[0] in known and all(known.get(s) == known[orbit[0]] for s in orbit):
                    known[slot] = known[orbit[0]]
            out.append(o.Let((r.slots[slot],), o.Rotated(tuple(variables), rounds), stmt.span))
            state.values[slot] = r.slots[slot]
            r.frozen |= {slot, *orbit}
            r.turned.append((slot, frozenset(orbit)))
            for parameter, memory in state.memory.items():
                if memory == Memory(orbit, rounds):
                    state.memory[parameter] = Memory((slot,))
        state.points[name] = View(own[view.slot])


def thaw(r: Raising, stmt: h.Stmt, state: State, later: frozenset[str]) -> None:
    """Memory that went round may be written to again where no name that may point to it, too, is in use any more: a
    copy reads what it reads before it writes."""
    used = later if isinstance(stmt, h.Update) else later | reads(stmt)
    for slot, orbit in r.turned:
        if not any(v.slot in orbit for n, v in state.points.items() if n in used):
            r.frozen -= {slot}


__all__ = ["held_back", "put_back", "thaw"]
