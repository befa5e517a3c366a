"""Accesses that each round of a loop makes until an exit is taken: the first round makes them all.

``for (s = 0; s < 64; s++) { x = o[2 * i] + t * d[2 * i]; if (x < eps) break; t += x; }``: a lane that has left the loop
reads nothing more, but in the first round none has left it. Where the place is the same in all rounds, it is in the
array.
"""

from __future__ import annotations

from collections.abc import Mapping

from kraise.analysis.conditions import classify
from kraise.analysis.dependence import implied
from kraise.ir import equations as eq
from kraise.ir.walk import free_indices, statements, topological
from kraise.raising.writes.masks import bounds

Flags = dict[tuple[str, str], eq.Axis]


def exit_flags(stmts: tuple[eq.Stmt, ...]) -> Flags:
    """The axes of counted loops by the flags of their exits (fold and name), which are down in the first round."""
    found: Flags = {}
    for s in statements(stmts):
        if isinstance(s, eq.Fold) and s.axis is not None and s.condition is None:
            for c in s.scalars:
                if isinstance(c.init, eq.Const) and c.init.value is False:
                    found[s.name, c.name] = s.axis
    return found


def in_first_rounds(
    flags: Mapping[tuple[str, str], eq.Axis],
    path: frozenset[eq.Expr],
    subscripts: tuple[eq.Expr, ...],
    domain: tuple[eq.Expr, ...],
) -> bool:
    """Whether the first rounds of the loops around make an access under ``path``, wherever ``domain`` holds.

    What is asked besides the flags must hold in the first round because it holds in this one: it is free of the loops'
    indices, or their range.
    """
    down = {c: c.args[0] for c in path if isinstance(c, eq.Op) and c.name == "not"}
    own = {c: e for c, e in down.items() if isinstance(e, eq.CarryIn) and (e.fold, e.name) in flags}
    axes = {flags[e.fold, e.name] for e in own.values()}  # type: ignore[union-attr]
    moving = {a.name for a in axes}
    if not own or any(isinstance(n, eq.CarryIn) for n in topological(subscripts)):
        return False
    if any(free_indices(s) & moving for s in subscripts):
        return False
    ranges = {classify(c) for c in bounds(axes)}
    rest = [c for c in path - own.keys() if classify(c) is None or classify(c) not in ranges]
    return all((c in domain or implied(domain, c)) and not free_indices(c) & moving for c in rest)


__all__ = ["Flags", "exit_flags", "in_first_rounds"]
