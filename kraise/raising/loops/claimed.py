"""Loops whose rounds the source itself hands out to threads (``numba.prange``, ``#pragma omp parallel for``).

The rounds run in any order and at once. What one round stores and another one touches is a race in the source, however
plain the loop reads as a sequential one; so is a scalar that a round needs as the round before left it. Cells that are
only added to (or reduced otherwise) and scalars that are so are taken as the reductions that they are meant to be.
"""

from __future__ import annotations

from kraise.analysis.dependence import Access, may_meet
from kraise.analysis.meeting import meeting
from kraise.diagnostics import refuse
from kraise.ir import kernel as k
from kraise.raising.carried.problem import Problem
from kraise.raising.loops.order import one_value
from kraise.raising.memory.phases import BARRIER
from kraise.raising.run.context import Context
from kraise.raising.run.state import State

_HINT = "use range, if the rounds are meant to run one after another; or let each round store to cells of its own"


def check_cells(cx: Context, st: State, inner: State, s: k.For, index: str, accesses: list[Access]) -> None:
    """Refuses a loop in which two rounds certainly meet at a cell that one of them stores to.

    Raises:
        Refused: KR201, with the place.
    """
    shared = frozenset(st.open)
    own = {a for a in inner.locals if a not in st.locals}  # each round makes its own
    group = [a for a in accesses if a.array != BARRIER and a.array not in own] if s.parallel else []
    for w in (a for a in group if a.write):
        for other in group:
            together = w.accumulate and (other.own or other.accumulate == w.accumulate)
            if other.array != w.array or together or (w is other and one_value(w, shared)):
                continue
            if may_meet(w, other, (index,), shared, "!=", cx.injective):
                where = meeting(w, other, (index,), shared)
                if where:
                    verb = "stores to" if other.write else "reads"
                    reason = (
                        f"one round of this parallel loop stores to an element of `{w.array}` that another one {verb}"
                    )
                    raise refuse("KR201", f"{reason} ({where})", w.span, _HINT, where)


def check_scalars(s: k.For, problem: Problem, reasons: list[str]) -> None:
    """Refuses a loop with a scalar that is more than reduced: its value in one round is used in another.

    ``reasons``: why what is left of them has no form of its own.

    Raises:
        Refused: KR201.
    """
    for name in problem.pending if s.parallel else ():
        if reasons or problem.used_in(name):
            shown = name.lstrip("$")
            reason = f"one round of this parallel loop needs `{shown}` as the round before it left it"
            raise refuse("KR201", reason, s.span, _HINT)
